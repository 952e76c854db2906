// Where things are: the repository, the binary, the installed tools, and what the tests leave behind.
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const REPOSITORY = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
/** `target/browser`; run.sh installs the packages there. */
export const TOOLS = process.env.LYRA_BROWSER_TOOLS ?? join(REPOSITORY, "target/browser");
export const LYRA = process.env.LYRA_BIN ?? join(REPOSITORY, "target/debug/lyra");
export const CHROMIUM = process.env.LYRA_CHROMIUM ?? "/usr/bin/chromium";
/** Pictures of pages, for a person to look at. */
export const SHOTS = join(TOOLS, "shots");
/** Data folders that the tests copy. */
export const SEEDS = join(TOOLS, "seed");

/** Loads an installed package. The tests are not below TOOLS, so `import` would not find it. */
export const installed = createRequire(join(TOOLS, "package.json"));
