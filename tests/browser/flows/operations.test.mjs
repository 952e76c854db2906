// Operations: tokens that are shown once and let in until they are revoked, the doctor, and the audit log.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Bench, shot } from "../support/bench.mjs";
import { until } from "../support/until.mjs";

/** Every token as stored. */
function tokens(bench) {
  return bench.store.json("token", "list");
}

test("a new token is shown once, and the audit log tells of it without its secret", async (t) => {
  const bench = await Bench.start(t);
  const page = await bench.open("/operations");
  await page.getByLabel("Name", { exact: true }).fill("laptop");
  await page.locator("select[name=scope]").selectOption("full");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByText("Copy the token now.").waitFor();
  const secret = await page.locator("output").innerText();
  assert.ok(secret.length > 40, secret);
  await page.locator("#tokens").getByText("laptop").waitFor();
  const [stored] = await tokens(bench);
  assert.deepEqual([stored.name, stored.scope], ["laptop", "full"]);
  assert.ok(Date.parse(stored.expires_at) > Date.now());
  await shot(page, "operations-token");

  await page.reload();
  await page.locator("#entries").getByText("create_token").first().waitFor();
  assert.ok(!(await page.content()).includes(secret));
});

test("a token with a name that is taken is refused at the form", async (t) => {
  const bench = await Bench.start(t);
  await bench.store.token("taken");
  const page = await bench.open("/operations", { tolerate: [/status of 4\d\d/] });
  await page.getByLabel("Name", { exact: true }).fill("taken");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("alert").getByText(/taken/).waitFor();
  assert.equal((await tokens(bench)).length, 1);
});

test("a token is revoked after a question", async (t) => {
  const bench = await Bench.start(t);
  await bench.store.token("old");
  const page = await bench.open("/operations");
  // The window dismisses every question; this one is answered by the page's own script.
  await page.evaluate(() => (globalThis.confirm = () => true));
  await page.getByRole("button", { name: "Revoke old" }).click();
  await page.locator("#tokens").getByText("Revoked").waitFor();
  assert.ok((await tokens(bench))[0].revoked_at);
});

test("the doctor examines when asked", async (t) => {
  const bench = await Bench.start(t);
  const page = await bench.open("/operations");
  assert.equal(await page.locator("[data-findings]").isVisible(), false);
  await page.getByRole("button", { name: "Examine" }).click();
  await page.locator("[data-findings]").getByRole("rowheader", { name: "database" }).waitFor();
  await shot(page, "operations-doctor");
});

test("a backup is saved from the page, whole, and the audit log tells of it", async (t) => {
  const bench = await Bench.start(t);
  const page = await bench.open("/operations");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Save a backup" }).click(),
  ]);
  assert.match(download.suggestedFilename(), /^lyra-\d{4}-\d\d-\d\d\.tar\.gz$/);
  const file = join(bench.store.folder, "saved.tar.gz");
  await download.saveAs(file);
  const report = await bench.store.json("backup", "verify", file);
  assert.deepEqual(report.problems, []);
  assert.deepEqual(report.corpora, (await bench.store.json("corpus", "list")).map((corpus) => corpus.name));
  await page.reload();
  await page.locator("#entries").getByText("create_backup").first().waitFor();
  await until("nothing is left of it", () => !readdirSync(bench.store.folder).some((name) => name.includes("piped")));
});
