// Takes the pictures in docs/images, of pages over the seeds of the flows. For a person, who then looks at each.
//
//   tests/browser/run.sh watch && LYRA_BIN=… node tests/browser/pictures.mjs [WORD...]
//
// PNG files are made small with `pngquant` where that is installed.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Bench } from "./support/bench.mjs";
import { browser } from "./support/browser.mjs";
import { REPOSITORY } from "./support/places.mjs";
import { FAST } from "./support/seed.mjs";

const FOLDER = join(REPOSITORY, "docs/images");

/** Two lanes over the example corpus, blended; leaves the page at the blend. */
async function fusion(page) {
  await page.goto("/fusion");
  await page.getByRole("combobox", { name: "Corpus", exact: true }).selectOption("example");
  const lane = (n) => page.locator(`#lane-${n}`);
  await lane(1).getByRole("textbox", { name: "Query", exact: true }).fill("nap OR naps OR napping");
  await lane(2).getByRole("combobox", { name: "Lane", exact: true }).selectOption("precision");
  await lane(2).getByRole("textbox", { name: "Query", exact: true }).fill("nap* AND memory");
  await page.getByRole("button", { name: "Search the lanes" }).click();
  await page.locator("#found").waitFor();
  await page.getByRole("button", { name: "Blend these runs" }).click();
  await page.waitForURL(/\/fusion\/runs\/fusion-/);
}

/** A few decisions, so that there is something to learn from. */
async function screening(page, bench) {
  const { next } = await bench.server.api("GET", `/tasks/${bench.task}/screening?limit=50`);
  for (const document of next.slice(0, 14)) {
    const include = /nap|sleep|昼寝|仮眠/i.test(document.title);
    const body = include ? { verdict: "include" } : { verdict: "exclude", reason: "wrong outcome" };
    await bench.server.api("PUT", `/tasks/${bench.task}/screening/${document.page_id}`, body);
  }
  await page.goto(`/tasks/${bench.task}/screening`);
}

/** The graph as it is drawn, settled. */
async function graph(page, bench) {
  await page.goto(`/tasks/${bench.task}/graph`);
  await page.locator("#graph[data-drawn] canvas").waitFor();
}

/** A name, the seed, the size of the window, what is opened, and the theme. */
const PICTURES = [
  ["home", "used", 900, (page) => page.goto("/")],
  ["task", "nap", 1300, (page, bench) => page.goto(`/tasks/${bench.task}`)],
  ["claim", "nap", 1250, async (page, bench) => page.goto(`/claims/${(await bench.claims())[0].claim_id}`)],
  ["reader", "nap", 900, async (page, bench) => page.goto((await bench.addresses()).reader), "dark"],
  ["graph", "nap", 1000, graph],
  ["screening", "nap", 1100, screening],
  ["fusion", "nap", 1250, fusion],
  ["sources", "used", 1100, (page) => page.goto("/sources")],
];

/** Runs what a test would run at its end. */
class Ends {
  constructor() {
    this.all = [];
  }
  after(what) {
    this.all.push(what);
  }
  async end() {
    for (const what of this.all) await what();
  }
}

const wanted = process.argv.slice(2);
for (const [name, seed, height, show, colorScheme = "light"] of PICTURES) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const ends = new Ends();
  const bench = await Bench.start(/** @type {any} */ (ends), seed, FAST);
  const page = await bench.open("/", { viewport: { width: 1280, height }, colorScheme });
  await show(page, bench);
  await page.evaluate(() => document.fonts.ready);
  const path = join(FOLDER, `${name}.png`);
  writeFileSync(path, await page.screenshot());
  spawnSync("pngquant", ["--force", "--output", path, "64", path]);
  console.log(path);
  await ends.end();
}
await (await browser()).close();
