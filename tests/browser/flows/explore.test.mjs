// Explore: prepared views, own statements, what is saved and drawn of their rows, and rows that try to become markup.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Bench, shot } from "../support/bench.mjs";

const REFUSED = /status of 4\d\d/;
const HOSTILE = "'=1+1' AS formula, '<img src=x onerror=alert(1)>' AS markup, -5 AS number, NULL AS nothing";

/** Writes a statement into the field, and sends it from the keyboard. */
async function run(page, sql) {
  await page.keyboard.press("Escape");
  await page.locator("h1").click();
  await page.keyboard.press("/");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(sql);
  await page.keyboard.press("Control+Enter");
}

/** The file that a button saves. */
async function saved(page, block) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    block.getByRole("button", { name: "Download as CSV" }).click(),
  ]);
  return readFileSync(await download.path(), "utf8");
}

test("a statement runs from the keyboard, and its rows are shown, saved, and drawn as text", async (t) => {
  const bench = await Bench.start(t);
  const page = await bench.open("/explore");
  const own = page.locator("#own-rows");
  await run(page, `SELECT ${HOSTILE}`);
  await own.getByRole("status").getByText("1 row.").waitFor();
  assert.deepEqual(await own.locator("th").allInnerTexts(), ["formula", "markup", "number", "nothing"]);
  assert.deepEqual(await own.locator("td").allInnerTexts(), ["=1+1", "<img src=x onerror=alert(1)>", "-5", "NULL"]);
  assert.equal(await own.locator("img").count(), 0);
  assert.equal(
    await saved(page, own),
    "\ufeffformula,markup,number,nothing\r\n'=1+1,<img src=x onerror=alert(1)>,-5,\r\n",
  );

  await run(page, "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 20) SELECT x, x * x AS y FROM n");
  await own.getByRole("status").getByText("20 rows.").waitFor();
  await own.getByText("Plot", { exact: true }).click();
  await own.getByRole("img", { name: "y against x" }).waitFor();
  assert.equal(await own.locator("svg .dot").count(), 20);
  await shot(page, "explore-plot");

  await run(page, "SELECT relation, count(*) AS passages FROM edges GROUP BY relation");
  await own.getByRole("img", { name: "passages by relation" }).waitFor();
  const rows = await bench.store.json("view", "query", "v_claim_evidence_summary", "--task", bench.task);
  assert.ok(rows.length > 0);
  assert.equal(await own.locator("svg .bar").count(), await own.locator("[data-status] ~ .table tbody tr").count());
});

test("a refused statement is explained at its field, and what was right is right again", async (t) => {
  const bench = await Bench.start(t);
  const page = await bench.open("/explore", { tolerate: [REFUSED] });
  const field = page.getByLabel("SQL", { exact: true });
  await run(page, "DELETE FROM claims");
  await page.getByRole("alert").getByText(/only reading is allowed/).waitFor();
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  assert.ok(await field.evaluate((element) => element === document.activeElement));
  await run(page, "SELECT * FROM claim");
  await page.getByRole("alert").getByText(/claims/).waitFor();
  await run(page, "SELECT count(*) AS n FROM claims");
  await page.locator("#own-rows").getByRole("status").getByText("1 row.").waitFor();
  assert.equal(await page.getByRole("alert").isVisible(), false);
  assert.equal(await field.getAttribute("aria-invalid"), null);
});

test("a prepared view shows the rows of one question, and goes on as SQL", async (t) => {
  const bench = await Bench.start(t);
  const page = await bench.open(`/explore?view=v_claim_evidence_summary&task=${bench.task}`);
  const stored = await bench.store.view("v_claim_evidence_summary", bench.task);
  assert.equal(await page.locator("#view-rows tbody tr").count(), stored.length);
  assert.match(await saved(page, page.locator("#view-rows")), new RegExp(stored[0].claim_id));
  await page.getByRole("link", { name: "Continue with SQL" }).click();
  await page.getByRole("button", { name: /Run/ }).click();
  await page.locator("#own-rows").getByRole("status").getByText(/row/).waitFor();
});
