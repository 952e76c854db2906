// Search lanes: queries checked at their place, runs, blends, comparison, review, and files, over an imported corpus.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { violations } from "../support/axe.mjs";
import { Bench, shot } from "../support/bench.mjs";
import { FAST } from "../support/seed.mjs";
import { overhang, unfold } from "../support/pages.mjs";
import { unzipped } from "../support/zip.mjs";

const HOSTILE = `<img src=x onerror=lyraHostileRan("lane")> & **stars**`;
const COUNT = 30;

/** Lamps: every second with an LED, some of those with a heat sink. */
function lamps() {
  return Array.from({ length: COUNT }, (_, i) => ({
    id: `d${String(i).padStart(2, "0")}`,
    title: `${i % 2 ? "A filament" : "An LED"} lamp, number ${i} ${i === 0 ? HOSTILE : ""}`,
    abstract: `The lamp ${HOSTILE} gives light${i % 4 === 0 ? " and has a heat sink" : ""}. 光源を備える。`,
    ipc: [i % 2 ? "H01K1/00" : "H01L33/64"],
    year: 1990 + i,
  }));
}

async function bench(t) {
  const bench = await Bench.start(t, "nap", FAST);
  const file = join(bench.store.folder, "lamps.jsonl");
  writeFileSync(file, lamps().map((lamp) => JSON.stringify(lamp) + "\n").join(""));
  await bench.store.run("corpus", "import", "lamps", file, "--offline", "--quiet", "--embed", "never");
  return bench;
}

const lane = (page, n) => page.locator(`#lane-${n}`);
const runOf = (page) => page.url().match(/\/fusion\/runs\/([\w-]+)/)?.[1];

/** Searches two lanes on the page, and blends them; returns the blend's id. */
async function blended(page) {
  await page.getByRole("combobox", { name: "Corpus", exact: true }).selectOption("lamps");
  await lane(page, 1).getByRole("textbox", { name: "Query", exact: true }).fill("lamp");
  await lane(page, 2).getByRole("combobox", { name: "Lane", exact: true }).selectOption("precision");
  await lane(page, 2).getByRole("textbox", { name: "Query", exact: true }).fill('led AND "heat sink"');
  await page.getByRole("button", { name: "Search the lanes" }).click();
  await page.locator("#found").waitFor();
  await page.getByRole("textbox", { name: /^Target profile/ }).fill("ipc:H01L33=1");
  await page.getByRole("button", { name: "Blend these runs" }).click();
  await page.waitForURL(/\/fusion\/runs\/fusion-/);
  return runOf(page);
}

/** The file that a link saves. */
async function saved(page, name) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name, exact: true }).click()]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

test("an error in a query is shown at its place, then the lanes run and are blended, changed, and compared", async (t) => {
  const started = await bench(t);
  const { server } = started;
  const page = await started.open("/fusion");
  const query = lane(page, 1).getByRole("textbox", { name: "Query", exact: true });
  await query.fill("lamp AND (昼 OR bright:red)");
  const alert = lane(page, 1).getByRole("alert");
  await alert.getByText("Character 16: found `bright:`, expected a field (title,").waitFor();
  assert.equal(await alert.locator("mark").innerText(), "bright:");
  assert.equal(await query.getAttribute("aria-invalid"), "true");
  await page.getByRole("button", { name: "Search the lanes" }).click();
  assert.equal(new URL(page.url()).search, "", "a query with an error is not sent");
  assert.ok(await query.evaluate((field) => field === document.activeElement));
  await shot(page, "fusion-fault");
  await query.fill("lamp led");
  await lane(page, 1).getByText("Read as: (lamp AND led)").waitFor();
  await alert.waitFor({ state: "hidden" });
  assert.deepEqual((await server.api("GET", "/fusion/runs")).runs, [], "checking stores nothing");

  const first = await blended(page);
  const { runs } = await server.api("GET", "/fusion/runs");
  // Lanes are searched at the same time.
  assert.deepEqual(runs.map((run) => [run.kind, run.query ?? "", run.count_returned]).sort(), [
    ["fulltext", "lamp", COUNT],
    ["fulltext", 'led AND "heat sink"', 8],
    ["fusion", "", COUNT],
  ]);
  assert.equal(runs[0].run_id, first);
  const stored = await server.api("GET", `/fusion/runs/${first}`);
  assert.deepEqual(stored.recipe.target_profile, { "ipc:H01L33": 1 });
  const shown = await page.locator("ol.claims > li .facts > span:first-child code").allInnerTexts();
  assert.deepEqual(shown.slice(0, 20), stored.documents.map((document) => document.doc_id).slice(0, 20));
  assert.equal(await page.locator("#document-1 svg[role=img]").count(), 1);
  assert.deepEqual(await page.locator("#document-1 .snippet mark").allInnerTexts(), ["lamp", "heat sink"]);
  await shot(page, "fusion-blend");

  const form = page.locator("#change-form");
  await form.getByRole("spinbutton", { name: "precision", exact: true }).fill("0");
  await form.getByRole("spinbutton", { name: "Codes of the target profile", exact: true }).fill("0");
  await page.getByRole("button", { name: "Make the new blend" }).click();
  await page.waitForURL((url) => url.pathname.startsWith("/fusion/runs/fusion-") && !url.pathname.endsWith(first));
  const second = runOf(page);
  const changed = await server.api("GET", `/fusion/runs/${second}`);
  assert.deepEqual(changed.changed_from, [first]);
  assert.equal(changed.recipe.weights.precision, 0);

  await page.getByRole("link", { name: "compare with it" }).click();
  await page.locator("#compare").getByRole("status").waitFor();
  await page.getByRole("combobox", { name: "First documents", exact: true }).selectOption("10");
  await page.getByRole("button", { name: "Compare", exact: true }).click();
  await page.waitForURL(/depth=10/);
  const compared = await server.api("GET", `/fusion/runs/${second}/compared/${first}?depth=10`);
  const said = await page.locator("#compare").getByRole("status").innerText();
  assert.ok(said.startsWith(`${compared.shared} of the first 10 documents are in both`), said);
  assert.equal(await page.locator("ol[aria-labelledby=only-this] > li").count(), compared.only_this.length);
});

test("a blend is saved as CSV, XLSX, and RIS", async (t) => {
  const started = await bench(t);
  const page = await started.open("/fusion");
  const run = await blended(page);
  const { documents } = await started.server.api("GET", `/fusion/runs/${run}?top_k_lane=${COUNT}`);
  const csv = await saved(page, "CSV");
  assert.equal(csv.name, `${run}.csv`);
  const lines = csv.bytes.toString("utf8").trimEnd().split("\r\n");
  assert.equal(lines.length, COUNT + 1);
  assert.match(lines[0], /^\ufeffrank,doc_id,title,score,rank in wide,rank in precision,share of wide,share of precision,share of code,label,/);
  assert.deepEqual(lines.slice(1).map((line) => line.split(",")[1]), documents.map((document) => document.doc_id));
  const xlsx = unzipped((await saved(page, "XLSX")).bytes);
  const sheet = xlsx["xl/worksheets/sheet1.xml"];
  assert.equal(sheet.match(/<row /g).length, COUNT + 1);
  assert.ok(!sheet.includes("<f>"), "no text became a formula");
  assert.ok(xlsx["xl/sharedStrings.xml"].includes("&lt;img src=x"), "texts are escaped");
  const ris = (await saved(page, "RIS")).bytes.toString("utf8");
  assert.equal(ris.match(/^ER {2}- /gm).length, COUNT);
  assert.ok(ris.includes(`Lyra ${run}: rank 1 (`), ris.slice(0, 500));
});

test("judgments of a review are stored, name a depth, and compare two runs", async (t) => {
  const started = await bench(t);
  const page = await started.open("/fusion");
  const run = await blended(page);
  await page.locator("#review").getByRole("link", { name: "20 documents" }).click();
  const items = page.locator("[data-judged]");
  await items.first().waitFor();
  assert.equal(await items.count(), 20);
  for (let n = 0; n < 10; n += 1) {
    await items.nth(n).getByRole("radio", { name: n % 2 ? /^C/ : /^A/ }).check();
  }
  await items.first().getByLabel("Reason").fill("the core");
  await page.getByRole("checkbox", { name: "I have read the documents that I judge." }).check();
  await page.getByRole("button", { name: "Store the judgments" }).click();
  await page.getByRole("table", { name: "Stored judgments" }).waitFor();
  const stored = await started.server.api("GET", `/fusion/runs/${run}`);
  assert.equal(stored.representatives.length, 10);
  assert.equal(stored.representatives.find((judged) => judged.reason)?.reason, "the core");
  assert.equal(stored.estimate.judged, 10);
  const { middle, from, to } = stored.estimate.depths;
  await page.locator("#depths").getByText(`By 10 judged documents, Fβ should be highest after ${middle} documents;`).waitFor();
  assert.ok(from <= middle && middle <= to, JSON.stringify(stored.estimate.depths));
  await page.locator("#review").getByRole("link", { name: "20 documents" }).click();
  await items.first().waitFor();
  const judged = new Set(stored.representatives.map((document) => document.doc_id));
  const proposed = await items.evaluateAll((all) => all.map((item) => item.dataset.judged));
  assert.ok(proposed.length > 0 && proposed.every((id) => !judged.has(id)), "what was judged is not proposed again");
  const wide = stored.parents[0].run_id;
  await page.goto(`/fusion/runs/${run}?with=${wide}&depth=10`);
  const { paired } = await started.server.api("GET", `/fusion/runs/${run}/compared/${wide}?depth=10`);
  assert.equal(paired.judged, 10);
  const row = page.getByRole("table", { name: "Both runs on the same judgments" }).getByRole("row", { name: /^Precision/ });
  assert.ok((await row.innerText()).includes(paired.precision.this.mean.toFixed(2)));
});

test("without JavaScript, lanes are searched and blended, and an error is shown at its place", async (t) => {
  const started = await bench(t);
  const page = await started.open("/fusion", { javaScriptEnabled: false });
  await page.getByRole("combobox", { name: "Corpus", exact: true }).selectOption("lamps");
  await lane(page, 1).getByRole("textbox", { name: "Query", exact: true }).fill("lamp AND (led");
  await page.getByRole("button", { name: "Search the lanes" }).click();
  await lane(page, 1).getByRole("alert").getByText(/^Character 14: found the end, expected/).waitFor();
  await lane(page, 1).getByRole("textbox", { name: "Query", exact: true }).fill("");
  const run = await blended(page);
  assert.equal((await started.server.api("GET", `/fusion/runs/${run}`)).kind, "fusion");
});

for (const colorScheme of ["light", "dark"]) {
  test(`the pages of runs obey the accessibility rules, and documents stay text (${colorScheme})`, async (t) => {
    const started = await bench(t);
    const page = await started.open("/fusion", { colorScheme });
    const run = await blended(page);
    const { parents } = await started.server.api("GET", `/fusion/runs/${run}`);
    const searched = "/fusion?corpus=lamps&lane=wide&query=lamp&lane=precision&query=led+AND+(&go=1";
    const wrong = [];
    for (const [name, address] of Object.entries({
      searched,
      blend: `/fusion/runs/${run}`,
      compared: `/fusion/runs/${run}?with=${parents[0].run_id}&depth=10`,
      review: `/fusion/runs/${run}?review=10`,
      lane: `/fusion/runs/${parents[0].run_id}`,
      form: `/fusion/blend?run=${parents[0].run_id}`,
    })) {
      for (const width of [380, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(address);
        await shot(page, `fusion-${name}-${colorScheme}-${width}`);
        for (const unfolded of [false, true]) {
          if (unfolded) await unfold(page);
          wrong.push(...(await violations(page)).map((violation) => ({ name, width, unfolded, ...violation })));
          const over = await overhang(page);
          if (over > 0) wrong.push(`${name} is ${over} pixels too wide at ${width}`);
        }
        assert.equal(await page.locator("img").count(), 0, `${name}: a document's markup became an image`);
      }
    }
    assert.deepEqual(wrong, []);
    await page.goto(`/fusion/runs/${run}`);
    const text = await page.locator("main").innerText();
    assert.ok(text.includes(HOSTILE.replace(/\s+/g, " ")), "its text is shown as it is");
  });
}
