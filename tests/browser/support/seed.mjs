// Makes the data folders that the tests copy, once per binary: research takes a minute with the built-in models.
//
//   nap       a question over the example corpus, with claims that have passages on both sides
//   used      the same after some weeks: a page requires human verification, domains are decided, judgments are corrected, and a
//             calibration is fitted to them and in effect
//   hostile   beside that, a question over documents that try to become markup, script, and instructions
//   large     beside the same, a task of 10,000 claims and 50,000 edges
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, createReadStream, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { QUESTION as HOSTILE_QUESTION, REASON, documents } from "./hostile.mjs";
import { Store } from "./lyra.mjs";
import { LYRA, REPOSITORY, SEEDS } from "./places.mjs";
import { Walled } from "./walled.mjs";

const LARGE = join(REPOSITORY, "orchestrator/crates/store/benches/large.sql");
/** Judges many times as fast as the verifier, and less accurately: for what only has to be there. */
export const FAST = { LYRA__ML__PROFILE: "fast" };

/** Judgments that are corrected or confirmed in `used`: a few more than a fit needs. */
const REVIEWED = 16;
/** What a seed begins with. */
const FROM = { used: "nap", hostile: "used", large: "used" };

/** What is in a seed: its folder, its task, a corpus of the task, and a word of the corpus. */
export function seed(name) {
  const known = JSON.parse(readFileSync(join(SEEDS, "seeds.json"), "utf8"));
  return known[name];
}

async function research(store, question, corpus, word, ...flags) {
  const report = await store.json("research", question, "--quiet", "--corpus", corpus, ...flags);
  return { folder: store.folder, task: report.task_id, corpus, word };
}

/** Confirms two of three judgments, and changes the third. */
async function review(store, task) {
  const rows = await store.view("v_claim_evidence_summary", task);
  const claims = [];
  for (const row of rows) claims.push(await store.claim(row.claim_id));
  const judged = claims.flatMap((claim) => claim.evidence).slice(0, REVIEWED);
  for (const [at, { edge_id, relation }] of judged.entries()) {
    const other = relation === "supports" ? "neutral" : "supports";
    await store.run("edge", "correct", edge_id, at % 3 === 2 ? other : relation);
  }
}

const makers = {
  async nap(store) {
    return research(store, "Does a short daytime nap improve memory?", "example", "nap", "--claims", "10");
  },
  async used(store, nap) {
    await review(store, nap.task);
    const { version } = await store.json("calibration", "fit", "--reason", "Sixteen judgments were reviewed");
    await store.run("calibration", "activate", String(version));
    await store.run("calibration", "evaluate");
    await store.run("domain", "block", "*.press.example", "--reason", "Copies of press releases");
    await store.run("domain", "unblock", "archive.example", "--reason", "Keeps the texts of the journals");
    const walled = await Walled.start();
    try {
      store.variables = { ...FAST, ...walled.variables() };
      await store.json("research", "Do naps help shift workers?", "--quiet", "--sources", "web");
    } finally {
      await walled.stop();
    }
    return { ...nap, folder: store.folder };
  },
  async hostile(store) {
    store.variables = FAST;
    const file = join(store.folder, "hostile.jsonl");
    writeFileSync(file, documents().map((document) => JSON.stringify(document) + "\n").join(""));
    await store.run("corpus", "import", "hostile", file, "--offline", "--quiet");
    await store.run("domain", "block", "hostile.example", "--reason", REASON);
    return research(store, HOSTILE_QUESTION, "hostile", "fever", "--claims", "10");
  },
  async large(store, used) {
    const program =
      "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.executescript(open(sys.argv[2]).read()); db.close()";
    try {
      execFileSync("python3", ["-c", program, join(store.folder, "lyra.db"), LARGE], { stdio: ["ignore", 1, 2] });
    } catch (error) {
      return { skipped: `python3 cannot write the large task: ${error.message.split("\n")[0]}` };
    }
    return { ...used, folder: store.folder, task: "task_0" };
  },
};

async function digest(files) {
  const hash = createHash("sha256");
  for (const file of files) await pipeline(createReadStream(file), hash, { end: false });
  return hash.digest("hex").slice(0, 16);
}

async function make() {
  const here = fileURLToPath(new URL(".", import.meta.url));
  const key = await digest([LYRA, LARGE, join(here, "seed.mjs"), join(here, "hostile.mjs"), join(here, "walled.mjs")]);
  const index = join(SEEDS, "seeds.json");
  if (existsSync(index) && JSON.parse(readFileSync(index, "utf8")).key === key) return;
  for (const old of existsSync(SEEDS) ? readdirSync(SEEDS) : []) rmSync(join(SEEDS, old), { recursive: true });
  const seeds = { key };
  for (const [name, maker] of Object.entries(makers)) {
    const started = performance.now();
    const folder = join(SEEDS, name);
    const from = seeds[FROM[name]];
    if (from) cpSync(from.folder, folder, { recursive: true });
    else mkdirSync(folder, { recursive: true });
    seeds[name] = await maker(new Store(folder), from);
    console.log(`seeded ${name} in ${((performance.now() - started) / 1000).toFixed(1)} s`);
  }
  writeFileSync(index, JSON.stringify(seeds, null, 2));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await make();
