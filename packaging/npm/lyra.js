#!/usr/bin/env node
// Runs the binary of this platform, which is a package of its own.
"use strict";

const { spawn } = require("node:child_process");
const os = require("node:os");
const path = require("node:path");

const platform = `${process.platform}-${process.arch}`;
const name = `lyra-evidence-${platform}`;
let folder;
try {
  folder = path.dirname(require.resolve(`${name}/package.json`));
} catch {
  console.error(
    `lyra: the package ${name} is not installed. Where npm offers it, install without --omit=optional; ` +
      "for other platforms, build Lyra from source: https://github.com/lyra-evidence/lyra",
  );
  process.exit(1);
}

const child = spawn(path.join(folder, "bin", "lyra"), process.argv.slice(2), { stdio: "inherit" });
// The binary decides when it ends; a second signal of the terminal reaches it directly.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`lyra: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  process.exit(signal ? 128 + os.constants.signals[signal] : code);
});
