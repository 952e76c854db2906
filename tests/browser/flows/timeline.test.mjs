// The timeline of a task: evidence by year and side, retractions, and how the confidence moved, as they are stored.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { Bench } from "../support/bench.mjs";
import { TITLES } from "../support/hostile.mjs";
import { cards } from "../support/pages.mjs";
import { FAST } from "../support/seed.mjs";
import { until } from "../support/until.mjs";

/** Texts of a table's cells, by row. */
function rows(page, id) {
  const read = (all) => all.map((row) => Array.from(row.cells, (cell) => cell.textContent.trim()));
  return page.locator(`#${id}-table tbody tr`).evaluateAll(read);
}

/** Executes SQL in a store as another process would. */
function execute(store, sql) {
  const program = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.executescript(sys.argv[2]); db.close()";
  execFileSync("python3", ["-c", program, join(store.folder, "lyra.db"), sql]);
}

test("evidence stands by year and side, and a year leads to its claims", async (t) => {
  const bench = await Bench.start(t);
  const page = await bench.open(`/tasks/${bench.task}`);
  await page.getByRole("navigation", { name: "Views of this task" }).getByRole("link", { name: "Timeline" }).click();
  await page.waitForURL(/\/timeline$/);
  const choice = page.getByRole("combobox", { name: "Claim", exact: true });
  await choice.selectOption({ label: "All claims" });
  await page.waitForURL(/claim=all/);
  const stored = await bench.server.api("GET", `/tasks/${bench.task}/timeline`);
  const dated = stored.years.filter((year) => year.year !== null);
  const expected = dated.map((year) =>
    [year.year, year.supporting, year.refuting, year.neutral, year.retracted].map(String));
  assert.ok(expected.length > 1);
  await until("the table is that of all claims", async () => {
    return JSON.stringify(await rows(page, "by-year")) === JSON.stringify(expected);
  });

  const sided = dated.find((year) => year.supporting + year.refuting > 0);
  const query = `year_from=${sided.year}&year_to=${sided.year}`;
  await page.locator(`#by-year-title`).waitFor({ state: "attached" });
  await page.locator(`.picture a[href$="${query}"]`).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.pathname === `/tasks/${bench.task}` && url.search === `?${query}`);
  const claims = await bench.server.api("GET", `/tasks/${bench.task}/claims?${query}&limit=200`);
  assert.ok(claims.total > 0);
  assert.deepEqual(await cards(page), claims.claims.slice(0, 30).map((claim) => claim.claim_id));
});

test("the history of a confidence ends with the stored one, also after a correction", async (t) => {
  const bench = await Bench.start(t);
  const [{ claim_id: id }] = await bench.claims();
  const page = await bench.open(`/tasks/${bench.task}/timeline?claim=${id}`);
  const claim = await bench.store.claim(id);
  const timeline = () => bench.server.api("GET", `/tasks/${bench.task}/timeline?claim_id=${id}`);
  const before = await timeline();
  assert.equal(before.history.length, claim.evidence_count);
  assert.equal(before.history.at(-1).confidence, claim.confidence);
  const shown = await rows(page, "confidence");
  assert.equal(shown.length, before.history.length);
  assert.equal(Number(shown.at(-1)[2]).toFixed(3), claim.confidence.toFixed(3));

  const { edge_id: edge, relation } = claim.evidence[0];
  const wanted = relation === "refutes" ? "supports" : "refutes";
  await bench.server.api("POST", `/edges/${edge}/correction`, { relation: wanted });
  await until("the correction is shown", async () => (await rows(page, "confidence")).at(-1)[1] === "A person");
  const after = await timeline();
  const last = after.history.at(-1);
  assert.deepEqual([last.event, last.edge_id, last.relation], ["edge_corrected", edge, wanted]);
  assert.equal(last.confidence, (await bench.store.claim(id)).confidence);
  await bench.server.api("DELETE", `/edges/${edge}/correction`);
  await until("it is back", async () => (await timeline()).history.at(-1).confidence === claim.confidence);
});

test("retracted works are listed and marked, and change no number", async (t) => {
  const bench = await Bench.start(t);
  const [{ claim_id: id }] = await bench.claims();
  const before = await bench.store.claim(id);
  const { work_id: work } = before.evidence.find((evidence) => evidence.work_id && evidence.relation !== "neutral");
  const page = await bench.open(`/tasks/${bench.task}/timeline?claim=${id}`);
  await page.getByText("No work among this evidence is known to be retracted.").waitFor();
  execute(bench.store, `UPDATE works SET is_retracted = 1 WHERE id = '${work.replaceAll("'", "''")}'`);
  await page.reload();
  const stored = await bench.server.api("GET", `/tasks/${bench.task}/timeline?claim_id=${id}`);
  assert.deepEqual(stored.retracted.map((retracted) => retracted.work_key), [work]);
  const row = page.locator("#retracted tbody tr");
  assert.equal(await row.getAttribute("data-work"), work);
  assert.match(await row.innerText(), /Retracted/);
  assert.equal(await page.locator("#by-year-table tbody td:last-child", { hasText: /^1$/ }).count(), 1);
  assert.equal((await bench.store.claim(id)).confidence, before.confidence);
});

test("the timeline is whole without JavaScript, in Japanese too, and titles stay text", async (t) => {
  const bench = await Bench.start(t);
  const [{ claim_id: id, claim_text: text }] = await bench.claims();
  const page = await bench.open(`/tasks/${bench.task}/timeline?claim=all`, { javaScriptEnabled: false });
  await page.getByText("Choose a claim to see how its confidence moved.").waitFor();
  await page.getByRole("combobox", { name: "Claim", exact: true }).selectOption(id);
  await page.getByRole("button", { name: "Show" }).click();
  await page.waitForURL(new RegExp(`claim=${id}`));
  assert.ok((await rows(page, "confidence")).length > 0, text);
  const japanese = await bench.open(`/tasks/${bench.task}/timeline`, { locale: "ja-JP" });
  await japanese.getByRole("heading", { level: 1, name: "年表" }).waitFor();

  const hostile = await Bench.start(t, "hostile", FAST);
  const sql = "SELECT DISTINCT work_key FROM edges WHERE relation IN ('supports', 'refutes', 'neutral') AND work_key LIKE 'title:%'";
  const works = (await hostile.server.api("POST", "/sql", { sql })).rows.map((row) => row.work_key);
  execute(hostile.store, "UPDATE works SET is_retracted = 1");
  const shown = await hostile.open(`/tasks/${hostile.task}/timeline?claim=all`);
  const listed = await shown.locator("#retracted").innerText();
  const stored = await hostile.server.api("GET", `/tasks/${hostile.task}/timeline`);
  assert.ok(stored.retracted.length > 0, `${works}`);
  for (const { title } of stored.retracted) {
    assert.ok(listed.includes(title.replaceAll(/[\u202a-\u202e]/g, "")) || listed.includes(title), title);
  }
  assert.ok(stored.retracted.some(({ title }) => TITLES.includes(title)), "a hostile work is among them");
  assert.equal(await shown.locator("#retracted :is(img, script, iframe)").count(), 0);
});
