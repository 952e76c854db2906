// Calibration: what was fitted to corrected judgments, with its measurements, and the way back.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bench } from "../support/bench.mjs";
import { FAST } from "../support/seed.mjs";

/** The only model's calibration as stored. */
async function stored(bench) {
  const [stats, ...others] = await bench.store.json("calibration", "stats");
  assert.deepEqual(others, []);
  return stats;
}

test("versions that were fitted are compared, and rolled back one after the other", async (t) => {
  const bench = await Bench.start(t, "used", FAST);
  await bench.store.run("calibration", "fit", "--method", "platt", "--reason", "A second curve");
  await bench.store.run("calibration", "activate", "2");
  const page = await bench.open("/calibration", { tolerate: [/^dialog:/] });
  const before = await stored(bench);
  assert.equal(before.active_version, 2);
  const section = page.locator("section", { has: page.getByRole("heading", { name: before.source }) });
  const row = (name) => section.getByRole("row", { name: new RegExp(`^${name}`) });
  await row("Version 2").getByText("Active", { exact: true }).waitFor();
  await row("Version 1").getByText("Sixteen judgments were reviewed").waitFor();
  assert.ok((await section.innerText()).includes(`Samples ${before.samples}`), "the samples are counted");
  // The numbers beside the model's own are those that the command measures.
  const measured = await bench.store.json("calibration", "evaluate");
  await page.reload();
  const { brier } = measured.evaluation;
  assert.ok((await row("Version 2").innerText()).includes(brier.toFixed(4)), `${brier} is shown`);
  assert.equal(await section.locator("figure svg[role=img]").count(), 3, "reliability before and after, and risk");

  // A prompt that is dismissed changes nothing; a reason is required.
  await section.getByRole("button", { name: "Roll back" }).click();
  assert.equal((await stored(bench)).active_version, 2);
  await page.evaluate(() => (globalThis.prompt = () => "It is worse on new judgments"));
  await section.getByRole("button", { name: "Roll back" }).click();
  await row("Version 1").getByText("Active", { exact: true }).waitFor();
  assert.equal((await stored(bench)).active_version, 1);
  await section.getByRole("button", { name: "Roll back" }).click();
  await row("Model’s own").getByText("Active", { exact: true }).waitFor();
  assert.equal((await stored(bench)).active_version, 0);
  assert.equal(await section.getByRole("button", { name: "Roll back" }).count(), 0, "there is nothing to roll back");
  assert.match(await bench.store.run("audit", "list"), /rollback/);
});
