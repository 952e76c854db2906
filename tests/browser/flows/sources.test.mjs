// Sources: decisions about domains, taken back and again; what requires a person, skipped; the state of each source.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bench } from "../support/bench.mjs";
import { FAST } from "../support/seed.mjs";
import { until } from "../support/until.mjs";

const DISMISSED = /^dialog:/;

/** Decisions as stored, by pattern. */
async function decisions(bench) {
  const rules = await bench.store.json("domain", "list");
  return Object.fromEntries(rules.map((rule) => [rule.domain_pattern, rule]));
}

async function decide(page, pattern, decision, reason) {
  const form = page.getByRole("form", { name: "Decide about a domain" });
  await form.getByLabel("Domain").fill(pattern);
  await form.getByLabel("Decision").selectOption({ label: decision });
  await form.getByLabel("Reason").fill(reason);
  await form.getByRole("button").click();
}

test("a domain is blocked, the decision withdrawn, and that taken back", async (t) => {
  const bench = await Bench.start(t, "nap", FAST);
  const page = await bench.open("/sources");
  await decide(page, "*.Mill.example", "Block", "It copies abstracts");
  const row = page.locator("#rules tr", { hasText: "*.mill.example" });
  await row.getByText("It copies abstracts").waitFor();
  const stored = (await decisions(bench))["*.mill.example"];
  assert.deepEqual([stored.decision, stored.reason], ["block", "It copies abstracts"]);

  await row.getByRole("button", { name: "Withdraw" }).click();
  await row.waitFor({ state: "detached" });
  assert.deepEqual(await decisions(bench), {});
  await page.getByRole("button", { name: "Undo" }).click();
  await row.waitFor();
  const again = (await decisions(bench))["*.mill.example"];
  assert.deepEqual([again.decision, again.reason], ["block", "It copies abstracts"]);

  // A second decision about the pattern replaces the first.
  await decide(page, "*.mill.example", "Unblock", "It was a mistake");
  await row.getByText("It was a mistake").waitFor();
  const all = await decisions(bench);
  assert.deepEqual([Object.keys(all), all["*.mill.example"].decision], [["*.mill.example"], "unblock"]);
});

test("a pattern that would hit many owners is refused, and what was typed stays", async (t) => {
  const bench = await Bench.start(t, "nap", FAST);
  const page = await bench.open("/sources", { tolerate: [/status of 400/] });
  await decide(page, "*.com", "Block", "all of it");
  await page.locator(".notice.error").waitFor();
  assert.equal(await page.getByLabel("Domain", { exact: true }).inputValue(), "*.com");
  assert.deepEqual(await decisions(bench), {});
});

test("a page that requires a person is skipped, and its search ends without it", async (t) => {
  const bench = await Bench.start(t, "used", FAST);
  const [item] = await bench.store.json("auth", "list");
  const page = await bench.open("/sources", { tolerate: [DISMISSED] });
  const card = page.locator(`[id="${item.queue_id}"]`);
  await card.getByText(`lyra auth open ${item.queue_id}`).waitFor();
  assert.equal(await card.getByRole("link").getAttribute("href"), `/tasks/${item.task_id}`);
  // The window dismisses every question; this one is answered by the page's own script.
  await card.getByRole("button", { name: "Skip" }).click();
  assert.equal((await bench.store.json("auth", "list")).length, 1, "a dismissed question changes nothing");
  await page.evaluate(() => (globalThis.confirm = () => true));
  await card.getByRole("button", { name: "Skip" }).click();
  await card.waitFor({ state: "detached" });
  assert.deepEqual(await bench.store.json("auth", "list"), []);
  const jobs = await bench.server.api("POST", "/sql", {
    sql: `SELECT state FROM jobs WHERE task_id = '${item.task_id}' AND state = 'awaiting_auth'`,
  });
  assert.deepEqual(jobs.rows, []);
  await page.goto("/");
  assert.ok(!(await page.locator("#attention").innerText()).includes(item.domain), "nothing waits on the start page");
});

test("the state of every source is shown as it is known", async (t) => {
  const bench = await Bench.start(t, "used", FAST);
  const { sources } = await bench.server.api("GET", "/sources");
  const page = await bench.open("/sources");
  const names = await page.locator("#list tbody th").allInnerTexts();
  assert.deepEqual(names.map((name) => name.trim()), sources.map((source) => source.name));
  await until("missing settings are named", async () => {
    const text = await page.locator("#list").innerText();
    return sources.filter((source) => source.missing).every((source) => text.includes(source.missing));
  });
});
