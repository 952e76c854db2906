// A claim's page: correct a passage, take that back, leave passages out, reject and restore the claim.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bench } from "../support/bench.mjs";
import { confidence, current, judged, kept, mark, passage } from "../support/pages.mjs";
import { until } from "../support/until.mjs";

/** The page of the claim with the most evidence on both sides. */
async function opened(t) {
  const bench = await Bench.start(t);
  const [row] = await bench.claims();
  const page = await bench.open(`/claims/${row.claim_id}`);
  await mark(page);
  const number = async () => (await bench.claims()).find((known) => known.claim_id === row.claim_id).confidence;
  const shows = (wanted) =>
    until(`the page shows ${wanted}`, async () => (await confidence(page)) === wanted || false);
  return { bench, page, id: row.claim_id, before: row.confidence, number, shows };
}

test("a passage is corrected from the keyboard, the number moves, and undo takes it back", async (t) => {
  const { bench, page, id, before, number, shows } = await opened(t);
  const original = await bench.store.claim(id);
  await shows(before.toFixed(2));
  await page.keyboard.press("j");
  const edge = await current(page);
  const model = judged(original, edge);
  const [key, other] = model.relation === "refutes" ? ["s", "supports"] : ["r", "refutes"];

  await page.keyboard.press(key);
  await until("the correction is stored", async () => judged(await bench.store.claim(id), edge).relation === other);
  const after = await number();
  assert.notEqual(after.toFixed(2), before.toFixed(2));
  await shows(after.toFixed(2));
  assert.equal(judged(await bench.store.claim(id), edge).nli_confidence, 1);
  assert.equal(await bench.store.samples(), 1);
  await passage(page, edge).getByText("Set by a person").waitFor();
  await page.locator("#history").getByText(/A person changed a passage/).waitFor();
  await page.getByRole("button", { name: "Undo", exact: true }).waitFor();

  await page.keyboard.press("u");
  const relation = async () => judged(await bench.store.claim(id), edge).relation;
  await until("the correction is undone", async () => (await relation()) === model.relation);
  await shows(before.toFixed(2));
  assert.deepEqual(judged(await bench.store.claim(id), edge), model);
  await page.locator("#history").getByText(/A correction was undone/).waitFor();
  await until("its mark is gone", async () => (await passage(page, edge).getByText("Set by a person").count()) === 0);
  const events = (await bench.store.history(id)).map((event) => event.event);
  assert.ok(events.includes("edge_corrected"), events.join());
  assert.ok(await kept(page), "the page changed in place");
});

test("a passage is corrected with its buttons, and set back to the model's judgment later", async (t) => {
  const { bench, page, id, before, shows } = await opened(t);
  const edge = (await bench.store.claim(id)).evidence.find((evidence) => evidence.relation === "supports").edge_id;
  await passage(page, edge).getByRole("button", { name: "Refutes" }).click();
  await until("stored", async () => judged(await bench.store.claim(id), edge).relation === "refutes");
  await page.reload();
  await passage(page, edge).getByRole("button", { name: "Back to the model’s judgment" }).click();
  await until("restored", async () => judged(await bench.store.claim(id), edge).relation === "supports");
  await shows(before.toFixed(2));
});

test("passages are left out of the number, and nothing is stored", async (t) => {
  const { bench, page, id, before, shows } = await opened(t);
  const original = await bench.store.claim(id);
  const history = await bench.store.history(id);
  await page.keyboard.press("j");
  const edge = await current(page);
  await page.keyboard.press("x");
  await page.getByText("Numbers without 1 passage. Nothing is stored.").waitFor();
  assert.match(page.url(), new RegExp(`without=${edge}`));
  assert.notEqual(await confidence(page), before.toFixed(2));
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.getByText("Numbers without 2 passages.").waitFor();
  assert.deepEqual(await bench.store.claim(id), original);
  assert.deepEqual(await bench.store.history(id), history);
  await page.getByRole("link", { name: "Count all passages again" }).click();
  await shows(before.toFixed(2));
  assert.deepEqual(await bench.store.claim(id), original);
});

test("a claim is rejected with a reason, and restored", async (t) => {
  const { bench, page, id } = await opened(t);
  const status = async () => (await bench.store.claim(id)).claim_adoption_status;
  await page.locator("#reject summary").click();
  await page.getByLabel("Reason", { exact: true }).fill("about another age group");
  await page.locator("#reject").getByRole("button", { name: "Reject this claim" }).click();
  await until("rejected", async () => (await status()) === "not_adopted");
  await page.locator("#states").getByText("Rejected").waitFor();
  await page.locator("#history").getByText("about another age group").waitFor();
  await page.getByRole("button", { name: "Restore", exact: true }).click();
  await until("restored", async () => (await status()) === "adopted");
  await page.locator("#history").getByText("A person restored the claim.").waitFor();
  const events = (await bench.store.history(id)).map((event) => event.event);
  assert.deepEqual(events.slice(-2), ["claim_rejected", "claim_restored"]);
});
