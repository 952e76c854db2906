// Home and the task's page: ask, watch, stop, resume, add searches.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bench } from "../support/bench.mjs";
import { cards, kept, mark } from "../support/pages.mjs";
import { FAST } from "../support/seed.mjs";
import { until } from "../support/until.mjs";

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
