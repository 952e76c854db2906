// Documents that try to become markup or script: every page shows their words as text.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bench, shot } from "../support/bench.mjs";
import { INJECTION, QUESTION, REASON, TITLES } from "../support/hostile.mjs";
import { overhang, unfold } from "../support/pages.mjs";
import { FAST } from "../support/seed.mjs";
import { until } from "../support/until.mjs";

/** What markup of a document would have become. */
function smuggled(page) {
  return page.evaluate(() => {
    const found = [];
    for (const element of document.querySelectorAll("*")) {
      for (const { name } of element.attributes) {
        if (name.startsWith("on") || name === "style" || name === "srcdoc") found.push(`${element.tagName} ${name}`);
      }
      if (/^(IFRAME|OBJECT|EMBED|BASE)$/.test(element.tagName)) found.push(element.tagName);
      const [source, link] = [element.getAttribute("src") ?? "", element.getAttribute("href") ?? ""];
      if (element.tagName === "IMG" && source === "x") found.push("image");
      if (element.tagName === "SCRIPT" && !source.startsWith("/assets/")) found.push("script");
      if (/^\s*(javascript|data|vbscript):/i.test(link)) found.push(link);
    }
    return found;
  });
}

test("no document's words become markup, on any page", async (t) => {
  const bench = await Bench.start(t, "hostile", FAST);
  const claims = await bench.claims();
  const sql = `SELECT page_id FROM task_pages WHERE task_id = '${bench.task}'`;
  const pages = (await bench.server.api("POST", "/sql", { sql })).rows.map((row) => row.page_id);
  assert.ok(claims.length >= 5 && pages.length >= 5, `${claims.length} claims, ${pages.length} pages`);
  const addresses = [
    ...Object.values(await bench.addresses()).filter((address) => !address.endsWith("/claim_0")),
    ...claims.map((claim) => `/claims/${claim.claim_id}`),
    ...pages.flatMap((page) => [`/pages/${page}`, `/pages/${page}?quarantined=1`]),
    `/tasks/${bench.task}?text=${encodeURIComponent('"><script>lyraHostileRan("query")</script>')}`,
    `/login?next=${encodeURIComponent("javascript:lyraHostileRan('next')")}`,
  ];
  const page = await bench.open("/", { viewport: { width: 380, height: 800 }, tolerate: [/status of 404/] });
  let seen = "";
  for (const address of addresses) {
    await page.goto(address);
    assert.deepEqual(await smuggled(page), [], address);
    await unfold(page);
    assert.ok((await overhang(page)) <= 0, `${address} is ${await overhang(page)} pixels too wide`);
    // Moving over and into everything sets off handlers that a document brought.
    await page.keyboard.press("j");
    await page.locator("main a, main li").first().hover({ force: true, timeout: 2000 }).catch(() => {});
    assert.deepEqual(await smuggled(page), [], `${address}, used`);
    const text = await page.locator("main").textContent();
    assert.ok(address.includes("quarantined") || !text.includes(INJECTION), `${address} shows what is in quarantine`);
    seen += text;
  }
  for (const text of [QUESTION, REASON, ...TITLES]) assert.ok(seen.includes(text), `no page shows “${text}”`);
  await page.goto(`/tasks/${bench.task}`);
  await shot(page, "hostile-task-380");
  await page.goto(`/claims/${claims[0].claim_id}`);
  await shot(page, "hostile-claim-380");
});

test("the API answers hostile ids and bodies with a problem, not with markup", async (t) => {
  const bench = await Bench.start(t, "hostile", FAST);
  for (const path of ["/claims/<script>", "/tasks/%22%3E%3Cimg%20src%3Dx%3E", "/pages/..%2F..%2Fetc%2Fpasswd"]) {
    for (const prefix of ["", "/api/v1"]) {
      const answer = await fetch(bench.server.url(prefix + path));
      assert.ok(answer.status === 404 || answer.status === 400, `${prefix}${path} answered ${answer.status}`);
      const text = await answer.text();
      if (prefix) assert.equal(answer.headers.get("content-type"), "application/problem+json", text);
      else assert.ok(!/<script>|<img src=x>/.test(text), text);
    }
  }
});

test("a reason with markup is stored and shown as it was written", async (t) => {
  const bench = await Bench.start(t, "hostile", FAST);
  const [{ claim_id: id }] = await bench.claims();
  const page = await bench.open(`/claims/${id}`);
  const reason = `<img src=x onerror=lyraHostileRan("reason")> & "quotes"`;
  await page.locator("#reject summary").click();
  await page.getByLabel("Reason", { exact: true }).fill(reason);
  await page.locator("#reject").getByRole("button").click();
  await until("stored", async () => {
    const events = await bench.store.history(id);
    return events.at(-1).event === "claim_rejected" && events.at(-1).detail.reason === reason;
  });
  await page.locator("#history").getByText(reason).waitFor();
  assert.deepEqual(await smuggled(page), []);
});
