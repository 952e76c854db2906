// Makes the data folders that the tests copy, once per binary: research takes a minute with the built-in models.
//
//   nap       a question over the example corpus, with claims that have passages on both sides
//   hostile   beside it, a question over documents that try to become markup, script, and instructions
//   large     beside it, a task of 10,000 claims and 50,000 edges
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, createReadStream, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { QUESTION as HOSTILE_QUESTION, documents } from "./hostile.mjs";
import { Store } from "./lyra.mjs";
import { LYRA, REPOSITORY, SEEDS } from "./places.mjs";

const LARGE = join(REPOSITORY, "orchestrator/crates/store/benches/large.sql");
/** Judges many times as fast as the verifier, and less accurately: for what only has to be there. */
export const FAST = { LYRA__ML__PROFILE: "fast" };

/** What is in a seed: its folder and its task. */
export function seed(name) {
  const known = JSON.parse(readFileSync(join(SEEDS, "seeds.json"), "utf8"));
  return known[name];
}

async function research(store, question, ...flags) {
  const report = await store.json("research", question, "--quiet", ...flags);
  return { folder: store.folder, task: report.task_id };
}

const makers = {
  async nap(store) {
    return research(store, "Does a short daytime nap improve memory?", "--claims", "10");
  },
  async hostile(store) {
    store.variables = FAST;
    const file = join(store.folder, "hostile.jsonl");
    writeFileSync(file, documents().map((document) => JSON.stringify(document) + "\n").join(""));
    await store.run("corpus", "import", "hostile", file, "--offline", "--quiet");
    return research(store, HOSTILE_QUESTION, "--claims", "10", "--corpus", "hostile");
  },
  async large(store) {
    const program =
      "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.executescript(open(sys.argv[2]).read()); db.close()";
    try {
      execFileSync("python3", ["-c", program, join(store.folder, "lyra.db"), LARGE], { stdio: ["ignore", 1, 2] });
    } catch (error) {
      return { skipped: `python3 cannot write the large task: ${error.message.split("\n")[0]}` };
    }
    return { folder: store.folder, task: "task_0" };
  },
};

async function digest(files) {
  const hash = createHash("sha256");
  for (const file of files) await pipeline(createReadStream(file), hash, { end: false });
  return hash.digest("hex").slice(0, 16);
}

async function make() {
  const here = fileURLToPath(new URL(".", import.meta.url));
  const key = await digest([LYRA, LARGE, join(here, "seed.mjs"), join(here, "hostile.mjs")]);
  const index = join(SEEDS, "seeds.json");
  if (existsSync(index) && JSON.parse(readFileSync(index, "utf8")).key === key) return;
  for (const old of existsSync(SEEDS) ? readdirSync(SEEDS) : []) rmSync(join(SEEDS, old), { recursive: true });
  const seeds = { key };
  for (const [name, maker] of Object.entries(makers)) {
    const started = performance.now();
    const folder = join(SEEDS, name);
    if (seeds.nap) cpSync(seeds.nap.folder, folder, { recursive: true });
    else mkdirSync(folder, { recursive: true });
    seeds[name] = await maker(new Store(folder));
    console.log(`seeded ${name} in ${((performance.now() - started) / 1000).toFixed(1)} s`);
  }
  writeFileSync(index, JSON.stringify(seeds, null, 2));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await make();
