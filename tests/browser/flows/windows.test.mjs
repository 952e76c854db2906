// More than one window, a server that goes away under a page, and access that ends.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bench } from "../support/bench.mjs";
import { confidence, judged, kept, mark, passage } from "../support/pages.mjs";
import { until } from "../support/until.mjs";

/** What Chromium reports while no server answers. */
const GONE = /ERR_(CONNECTION_(REFUSED|RESET)|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE|NETWORK\w*)/;
/** What it reports of an answer with this status. */
const REFUSED = /status of (401|403)/;
const GUARDED = { LYRA__SERVER__AUTH: "required" };

/** A passage of the most contested claim that the model thinks supports it. */
async function supporting(bench) {
  const [row] = await bench.claims();
  const stored = await bench.store.claim(row.claim_id);
  const { edge_id } = stored.evidence.find((evidence) => evidence.relation === "supports");
  return { claim: row.claim_id, edge: edge_id, address: `/claims/${row.claim_id}` };
}

test("a correction in one window appears in the others", async (t) => {
  const bench = await Bench.start(t);
  const { claim, edge, address } = await supporting(bench);
  const [first, second, list] = [
    await bench.open(address),
    await bench.open(address),
    await bench.open(`/tasks/${bench.task}`),
  ];
  const before = await confidence(first);
  for (const page of [second, list]) await mark(page);
  await passage(first, edge).getByRole("button", { name: "Refutes" }).click();
  await until("it is stored", async () => judged(await bench.store.claim(claim), edge).relation === "refutes");
  const after = (await bench.claims()).find((row) => row.claim_id === claim).confidence.toFixed(2);
  assert.notEqual(after, before);
  await until("the second window shows it", async () => (await confidence(second)) === after);
  await list.locator(`[data-claim="${claim}"]`).getByText(new RegExp(`^${after} ±`)).waitFor();
  await passage(second, edge).getByText("Set by a person").waitFor();
  for (const page of [second, list]) assert.ok(await kept(page), "events changed the page in place");
});

test("a page survives a server that is killed and started again", async (t) => {
  const bench = await Bench.start(t);
  const { claim, edge, address } = await supporting(bench);
  const page = await bench.open(address, { tolerate: [GONE] });
  const before = await confidence(page);
  await mark(page);
  await bench.server.kill();
  await page.getByText("The server does not answer.").first().waitFor();
  await passage(page, edge).getByRole("button", { name: "Refutes" }).click();
  assert.equal(judged(await bench.store.claim(claim), edge).relation, "supports", "nothing was stored");
  // What happens meanwhile is not lost.
  await bench.store.run("edge", "correct", edge, "neutral");
  await bench.server.start();
  await page.getByText("Connected again.").waitFor();
  await until("the page is true again", async () => (await confidence(page)) !== before);
  await page.locator(`li.neutral[data-edge="${edge}"]`).waitFor({ state: "attached" });
  assert.ok(await kept(page), "the page changed in place");
});

test("a token becomes a session, which ends when the token is revoked", async (t) => {
  const bench = await Bench.start(t, "nap", GUARDED);
  const token = await bench.store.token("reviewer");
  const { claim, edge, address } = await supporting(bench);
  const page = await bench.open(address, { tolerate: [REFUSED] });
  assert.match(page.url(), /\/login\?next=/);
  await page.getByLabel("Access token").fill("lyra_wrong_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator(".notice.error").waitFor();
  await page.getByLabel("Access token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`**${address}`);
  const cookies = await page.context().cookies();
  assert.ok(cookies.some((cookie) => cookie.httpOnly && cookie.sameSite === "Strict"), JSON.stringify(cookies));
  assert.ok(!JSON.stringify(cookies).includes(token), "the cookie is not the token");
  await passage(page, edge).getByRole("button", { name: "Refutes" }).click();
  await until("a session may write", async () => judged(await bench.store.claim(claim), edge).relation === "refutes");
  const audit = await bench.store.run("audit", "list");
  assert.match(audit, /reviewer/);

  await bench.store.run("token", "revoke", "reviewer");
  await passage(page, edge).getByRole("button", { name: "Supports" }).click();
  await page.waitForURL(/\/login/);
  assert.equal(judged(await bench.store.claim(claim), edge).relation, "refutes", "nothing was stored");
  await page.goto("/");
  assert.match(page.url(), /\/login/);
});

test("a read-only token reads everything and is offered no change", async (t) => {
  const bench = await Bench.start(t, "nap", GUARDED);
  const token = await bench.store.token("guest", "read");
  const { claim, edge, address } = await supporting(bench);
  const page = await bench.open(address, { tolerate: [REFUSED] });
  await page.getByLabel("Access token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`**${address}`);
  await passage(page, edge).waitFor();
  assert.equal(await page.locator("main [data-api]").count(), 0);
  const status = await page.evaluate(async (id) => {
    const body = JSON.stringify({ relation: "refutes" });
    const headers = { "content-type": "application/json" };
    return (await fetch(`/api/v1/edges/${id}/correction`, { method: "POST", headers, body })).status;
  }, edge);
  assert.equal(status, 403);
  assert.equal(judged(await bench.store.claim(claim), edge).relation, "supports");
});

test("another origin cannot write with a session or without", async (t) => {
  const bench = await Bench.start(t);
  const { claim, edge } = await supporting(bench);
  for (const headers of [{ origin: "https://a.example" }, { "sec-fetch-site": "cross-site", origin: "null" }]) {
    const answer = await fetch(bench.server.url(`/api/v1/edges/${edge}/correction`), {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ relation: "refutes" }),
    });
    assert.equal(answer.status, 403, JSON.stringify(headers));
  }
  assert.equal(judged(await bench.store.claim(claim), edge).relation, "supports");
});
