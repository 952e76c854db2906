// Home and the task's page: ask, watch, stop, resume, add searches.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Bench } from "../support/bench.mjs";
import { cards, kept, mark } from "../support/pages.mjs";
import { FAST } from "../support/seed.mjs";
import { until } from "../support/until.mjs";
import { Walled } from "../support/walled.mjs";

const QUESTION = "Does biochar increase crop yield?";

/** Asks on Home, for few claims; returns the id of the task whose page it leads to. */
async function ask(page, question, { claims = "3" } = {}) {
  await page.getByRole("textbox", { name: "Question or claim" }).fill(question);
  await page.getByText("Where to look, and how far").click();
  await page.getByLabel("Claims at most").fill(claims);
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await page.waitForURL(/\/tasks\/task_/);
  return page.url().match(/task_\w+/)[0];
}

async function stored(bench, task) {
  return (await bench.store.tasks()).find((known) => known.task_id === task);
}

/** Waits until the page says so, without being loaded again. */
async function says(page, status) {
  await page.locator("#head .pill", { hasText: status }).waitFor();
}

test("a question asked on Home is researched while its page shows how far it is", async (t) => {
  const bench = await Bench.start(t, "nap", FAST);
  const page = await bench.open("/");
  const task = await ask(page, QUESTION);
  await mark(page);
  await page.getByRole("heading", { level: 1, name: QUESTION }).waitFor();
  await says(page, "Done");
  const known = await stored(bench, task);
  assert.equal(known.query, QUESTION);
  assert.equal(known.status, "completed");
  assert.equal(known.config.max_claims, 3);
  const rows = await bench.store.view("v_claim_evidence_summary", task);
  assert.ok(rows.length > 1, "claims were found");
  await until("each claim has a card", async () => (await cards(page)).length === rows.length);
  assert.deepEqual((await cards(page)).sort(), rows.map((row) => row.claim_id).sort());
  assert.ok(await kept(page), "events changed the page in place");

  await page.getByRole("link", { name: "Lyra", exact: true }).click();
  await page.getByRole("listitem").filter({ hasText: QUESTION }).getByText("Done").waitFor();
});

test("a claim is checked as it is stated", async (t) => {
  const bench = await Bench.start(t, "nap", FAST);
  const page = await bench.open("/");
  const claim = "Short naps improve word recall.";
  await page.getByLabel("Check a claim").check();
  const task = await ask(page, claim);
  await says(page, "Done");
  const rows = await bench.store.view("v_claim_evidence_summary", task);
  const checked = rows.find((row) => row.claim_text === claim);
  assert.ok(checked, JSON.stringify(rows));
  assert.equal((await bench.store.claim(checked.claim_id)).claim_type, "user");
});

test("a question goes to the corpora and sources that were chosen, and to no others", async (t) => {
  const walled = await Walled.start();
  const bench = await Bench.start(t, "nap", { ...FAST, ...walled.variables() });
  t.after(() => walled.stop());
  const file = join(bench.store.folder, "roofs.jsonl");
  const roof = { id: "roof", title: "Naps under moss", abstract: "Naps under moss on the roof improved memory in forty adults." };
  writeFileSync(file, `${JSON.stringify(roof)}\n`);
  await bench.store.run("corpus", "import", "roofs", file, "--offline", "--quiet");
  const page = await bench.open("/");
  await page.getByRole("textbox", { name: "Question or claim" }).fill("Do naps improve memory?");
  await page.getByText("Where to look, and how far").click();
  await page.getByLabel(/^roofs/).check();
  await page.getByLabel("web", { exact: true }).check();
  await page.getByLabel("Pages at most").fill("40");
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await page.waitForURL(/\/tasks\/task_/);
  const task = page.url().match(/task_\w+/)[0];
  await says(page, "Done");
  const { config } = await stored(bench, task);
  assert.deepEqual([config.corpora, config.sources], [["roofs"], ["web"]]);
  assert.equal(config.budget.max_pages, 40);
  const sql = `SELECT title FROM pages JOIN task_pages ON page_id = pages.id WHERE task_id = '${task}'`;
  const { rows } = await bench.server.api("POST", "/sql", { sql });
  assert.deepEqual(rows, [{ title: roof.title }], "the example corpus was not searched");
  assert.ok(walled.asked > 0, "the search engine was asked");
  const waiting = await bench.store.json("auth", "list");
  assert.deepEqual(waiting.map((item) => [item.task_id, item.auth_type]), [[task, "captcha"]]);
  await page.getByText("1 page or search engine requires human verification.").waitFor();
});

test("searches are added to a task that is done, and it works on", async (t) => {
  const bench = await Bench.start(t, "nap", FAST);
  const page = await bench.open(`/tasks/${bench.task}`);
  await page.getByText("Add searches").click();
  await page.getByLabel("Searches, one per line").fill("naps and grogginess\nnaps of older adults");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText("The searches were added.").waitFor();
  for (const query of ["naps and grogginess", "naps of older adults"]) {
    await page.locator("#details li", { hasText: query }).waitFor();
  }
  await until("the task is done again", async () => (await stored(bench, bench.task)).status === "completed");
  await says(page, "Done");
  const exported = JSON.parse(await bench.store.run("task", "export", bench.task));
  const queries = exported.task.searches.map((search) => search.query);
  assert.ok(queries.includes("naps and grogginess") && queries.includes("naps of older adults"), queries.join("; "));
});

test("a task gets another budget without another search", async (t) => {
  const bench = await Bench.start(t, "nap", FAST);
  const page = await bench.open(`/tasks/${bench.task}`);
  const searches = await page.locator("#details li").count();
  await page.getByText("Change the budget").click();
  await page.getByLabel("Pages at most").fill("33");
  await page.getByLabel("Seconds at most").fill("900");
  await page.getByRole("button", { name: "Change", exact: true }).click();
  await page.getByText("The budget was changed.").waitFor();
  const { config, status } = await stored(bench, bench.task);
  assert.deepEqual(config.budget, { max_pages: 33, max_seconds: 900 });
  assert.equal(status, "completed", "nothing was started");
  await page.locator("#work").getByText(/\/ 33$/).waitFor();
  assert.equal(await page.locator("#details li").count(), searches);
});

test("a task is deleted after a question", async (t) => {
  const bench = await Bench.start(t, "nap", FAST);
  const page = await bench.open(`/tasks/${bench.task}`, { tolerate: [/^dialog:/, /status of 404/] });
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  assert.ok(await stored(bench, bench.task), "a dismissed question deletes nothing");
  await page.evaluate(() => (globalThis.confirm = () => true));
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.waitForURL(/\/$/);
  assert.equal(await stored(bench, bench.task), undefined);
  const { rows } = await bench.server.api("POST", "/sql", { sql: "SELECT count(*) AS n FROM pages" });
  assert.equal(rows[0].n, 0, "no other task uses its pages");
});

test("a task is stopped and resumed", async (t) => {
  // The verifier is slow enough to be stopped at its work.
  const bench = await Bench.start(t, "nap");
  const page = await bench.open("/");
  const task = await ask(page, QUESTION, { claims: "2" });
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByRole("button", { name: "Resume", exact: true }).waitFor();
  const halted = await stored(bench, task);
  assert.notEqual(halted.status, "completed");
  assert.notEqual(halted.status, "exploring");
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await until("it is resumed", async () => ["exploring", "completed"].includes((await stored(bench, task)).status));
});
