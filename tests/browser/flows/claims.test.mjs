// The list of a task's claims: cards, filters, order. Each is compared with what is stored.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Bench } from "../support/bench.mjs";
import { cards } from "../support/pages.mjs";
import { until } from "../support/until.mjs";

const SIDES = {
  Contested: (row) => row.support_count > 0 && row.refute_count > 0,
  "Supported only": (row) => row.support_count > 0 && row.refute_count === 0,
  "Refuted only": (row) => row.support_count === 0 && row.refute_count > 0,
  "No side taken": (row) => row.support_count === 0 && row.refute_count === 0,
};

function ids(rows) {
  return rows.map((row) => row.claim_id).sort();
}

test("claims are listed as cards and narrowed by side, words, years, and confidence", async (t) => {
  const bench = await Bench.start(t);
  const rows = await bench.claims();
  const page = await bench.open(`/tasks/${bench.task}`);
  const listed = async (what, wanted) => {
    await until(`${what}: ${wanted.length} of ${rows.length} claims`, async () => {
      const found = (await cards(page)).sort();
      return JSON.stringify(found) === JSON.stringify(ids(wanted)) || false;
    });
  };
  await listed("all", rows);
  for (const row of rows) {
    const card = page.locator(`[data-claim="${row.claim_id}"]`);
    assert.equal(await card.getByRole("heading").innerText(), row.claim_text);
    const facts = (await card.innerText()).replaceAll(/\s+/g, " ");
    const counts = { Supports: row.support_count, Refutes: row.refute_count, Neutral: row.neutral_count };
    for (const [word, count] of Object.entries(counts)) {
      assert.ok(facts.includes(`${word} ${count}`), `${word} ${count} is not in: ${facts}`);
    }
    assert.ok(facts.includes(row.confidence.toFixed(2)), `${row.confidence} is not in: ${facts}`);
  }
  assert.ok(SIDES.Contested(rows.find((row) => row.claim_id === rows[0].claim_id)), "the seed has a contested claim");

  const side = page.getByRole("combobox", { name: "Evidence", exact: true });
  for (const [name, belongs] of Object.entries(SIDES)) {
    await side.selectOption({ label: name });
    await listed(name, rows.filter(belongs));
    assert.match(page.url(), /side=/);
  }
  await side.selectOption({ label: "Any" });
  await listed("any side", rows);

  const word = rows.map((row) => row.claim_text.match(/\p{L}{7,}/u)?.[0]).find(Boolean);
  await page.getByLabel("Find in claims").fill(word);
  await listed(word, rows.filter((row) => row.claim_text.toLowerCase().includes(word.toLowerCase())));
  await page.getByLabel("Find in claims").fill("zzzz");
  await page.getByText("No claim fits these filters.").waitFor();
  await page.getByRole("link", { name: "Show all claims" }).click();
  await listed("all again", rows);

  await page.getByText("Years, confidence, source, study").click();
  await page.getByLabel("Confidence from").fill("0.4");
  await listed("confidence", rows.filter((row) => row.confidence >= 0.4));
  await page.getByLabel("Confidence from").fill("");
  await page.getByLabel("Year from").fill("3000");
  await page.getByText("No claim fits these filters.").waitFor();
});

test("the order of claims follows their numbers", async (t) => {
  const bench = await Bench.start(t);
  const rows = await bench.claims();
  const of = (id, field) => rows.find((row) => row.claim_id === id)[field];
  const page = await bench.open(`/tasks/${bench.task}`);
  const order = page.getByRole("combobox", { name: "Order", exact: true });
  const sorted = async (label, field) => {
    await order.selectOption({ label });
    await until(`${label}`, async () => {
      const values = (await cards(page)).map((id) => of(id, field));
      return values.length === rows.length && values.every((value, i) => i === 0 || value <= values[i - 1] + 1e-9);
    });
  };
  await sorted("Highest confidence first", "confidence");
  await sorted("Least certain first", "uncertainty");
  await order.selectOption({ label: "Contested first" });
  await until("a contested claim is first", async () => {
    const [first] = await cards(page);
    return of(first, "support_count") > 0 && of(first, "refute_count") > 0;
  });
});

test("a study design chooses the claims with such works", async (t) => {
  const bench = await Bench.start(t);
  const rows = await bench.claims();
  const stored = await Promise.all(rows.map((row) => bench.store.claim(row.claim_id)));
  const page = await bench.open(`/tasks/${bench.task}`);
  await page.getByText("Years, confidence, source, study").click();
  // The example's titles name these, in English and Japanese.
  for (const [label, words] of [
    ["Randomized trial", /randomized|無作為化/],
    ["Meta-analysis", /pooled analysis/],
    ["Cohort study", /cohort|追跡調査/],
  ]) {
    const sided = (passage) => passage.relation !== "neutral" && words.test(passage.title);
    const wanted = stored.filter((claim) => claim.evidence.some(sided)).map((claim) => claim.claim_id).sort();
    await page.getByLabel("Study design").selectOption({ label });
    await until(`${label}: ${wanted.length} claims`, async () => {
      return JSON.stringify((await cards(page)).sort()) === JSON.stringify(wanted);
    });
    t.diagnostic(`${label}: ${wanted.length} of ${rows.length} claims`);
  }
  assert.match(page.url(), /study=cohort/);
});

test("several claims are selected, saved, rejected, and put back", async (t) => {
  const bench = await Bench.start(t);
  const rows = await bench.claims();
  const page = await bench.open(`/tasks/${bench.task}`);
  const bar = page.getByRole("form", { name: "Selected claims" });
  assert.equal(await bar.isVisible(), false, "nothing is selected");
  const [first, second] = await cards(page);
  await page.locator(`[id="select-${first}"]`).check();
  await bar.getByText("1 claim selected").waitFor();
  // The key as well.
  await page.locator(`[id="${second}"] h3 a`).focus();
  await page.keyboard.press("x");
  await bar.getByText("2 claims selected").waitFor();

  // What is selected stays so while the page changes in place.
  await bench.store.run("edge", "correct", (await bench.store.claim(first)).evidence[0].edge_id, "neutral");
  await until("the correction is shown", async () => {
    const row = (await bench.claims()).find((row) => row.claim_id === first);
    return (await page.locator(`[id="${first}"]`).innerText()).replaceAll(/\s+/g, " ").includes(`Neutral ${row.neutral_count}`);
  });
  assert.equal(await page.locator(`[id="select-${first}"]`).isChecked(), true);

  const saved = async (name) => {
    const [download] = await Promise.all([page.waitForEvent("download"), bar.getByRole("button", { name }).click()]);
    const path = join(bench.store.folder, "saved");
    await download.saveAs(path);
    return readFileSync(path, "utf8");
  };
  const json = JSON.parse(await saved("Save as JSON"));
  assert.deepEqual(json.map((claim) => claim.claim_id).sort(), [first, second].sort());
  assert.ok(json.every((claim) => claim.evidence.length > 0));
  const lines = (await saved("Save as CSV")).trim().split("\r\n");
  assert.equal(lines.length, 3);
  assert.ok(lines.slice(1).every((line) => [first, second].some((id) => line.startsWith(id))), lines.join("\n"));

  await bar.getByText("Reject the selected claims").click();
  await bar.getByLabel("Reason").fill("They are off topic");
  await page.keyboard.press("Enter");
  await page.locator(`[id="${first}"]`).waitFor({ state: "detached" });
  assert.equal((await cards(page)).length, rows.length - 2);
  for (const id of [first, second]) {
    const claim = await bench.store.claim(id);
    assert.equal(claim.claim_adoption_status, "not_adopted");
    assert.equal((await bench.store.history(id)).at(-1).detail.reason, "They are off topic");
  }
  await page.getByRole("button", { name: "Undo" }).click();
  await until("both are back", async () => (await cards(page)).length === rows.length);
  for (const id of [first, second]) assert.equal((await bench.store.claim(id)).claim_adoption_status, "adopted");

  await page.locator(`[id="select-${first}"]`).check();
  await bar.getByRole("button", { name: "Select all" }).click();
  await bar.getByText(`${rows.length} claims selected`).waitFor();
  await bar.getByRole("button", { name: "Select none" }).click();
  await bar.waitFor({ state: "hidden" });
});

test("selected claims are saved without JavaScript", async (t) => {
  const bench = await Bench.start(t);
  const page = await bench.open(`/tasks/${bench.task}`, { javaScriptEnabled: false });
  const [first] = await cards(page);
  await page.locator(`[id="select-${first}"]`).check();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save as CSV" }).click(),
  ]);
  assert.match(download.suggestedFilename(), /^lyra-task_.*\.csv$/);
});

test("a card opens its claim, with Enter as well", async (t) => {
  const bench = await Bench.start(t);
  const page = await bench.open(`/tasks/${bench.task}`);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  const id = await page.locator("[data-current]").getAttribute("data-claim");
  assert.equal(id, (await cards(page))[1]);
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/claims/${id}*`);
  const stored = await bench.store.claim(id);
  await page.getByRole("heading", { level: 1, name: stored.claim }).waitFor();
  assert.equal(await page.locator("li[data-edge]").count(), stored.evidence_count);
});

test("years and sources choose the claims with such passages", async (t) => {
  const bench = await Bench.start(t);
  const rows = await bench.claims();
  const stored = await Promise.all(rows.map((row) => bench.store.claim(row.claim_id)));
  const page = await bench.open(`/tasks/${bench.task}`);
  const shows = async (what, belongs) => {
    const wanted = stored.filter((claim) => claim.evidence.some(belongs)).map((claim) => claim.claim_id).sort();
    await until(`${what}: ${wanted.length} of ${rows.length} claims`, async () => {
      return JSON.stringify((await cards(page)).sort()) === JSON.stringify(wanted);
    });
    return wanted.length;
  };
  const sided = (passage) => passage.relation !== "neutral";
  const years = stored.flatMap((claim) => claim.evidence.filter(sided).map((passage) => passage.year)).filter(Boolean);
  const counts = (year) => stored.filter((claim) => claim.evidence.some((p) => sided(p) && p.year === year)).length;
  const year = years.sort((a, b) => counts(a) - counts(b))[0];
  await page.getByText("Years, confidence, source, study").click();
  await page.getByLabel("Year from").fill(String(year));
  await page.getByLabel("Year to").fill(String(year));
  assert.ok((await shows(`year ${year}`, (passage) => sided(passage) && passage.year === year)) > 0);

  const work = stored.flatMap((claim) => claim.evidence).find((passage) => sided(passage) && passage.year === year).work_id;
  await page.getByLabel("Work or domain").fill(work);
  await shows("both", (passage) => sided(passage) && passage.year === year && passage.work_id === work);
  await page.getByLabel("Year from").fill("");
  await page.getByLabel("Year to").fill("");
  await shows(work, (passage) => passage.work_id === work);
});
