// The tests' own instruments see what they are for: a page that does everything wrong, under the workbench's policy.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { violations } from "../support/axe.mjs";
import { browser, watch } from "../support/browser.mjs";
import { ALARM } from "../support/hostile.mjs";
import { until } from "../support/until.mjs";

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/** A page with this body, and a script with this text. */
async function served(t, body, script) {
  const server = createServer((request, response) => {
    if (request.url === "/script.js") {
      response.setHeader("content-type", "text/javascript").end(script);
      return;
    }
    response.setHeader("content-type", "text/html; charset=utf-8").setHeader("content-security-policy", POLICY);
    const head = `<!doctype html><html lang=en><title>t</title><link rel=icon href="data:,">`;
    response.end(`${head}${body}<script src=/script.js></script>`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}`;
}

async function opened(t, origin) {
  const wrong = [];
  const context = await (await browser()).newContext();
  t.after(() => context.close());
  await watch(context, origin, [], wrong, true);
  const page = await context.newPage();
  await page.goto(origin);
  return { page, wrong };
}

test("violations, errors, scripts of documents, and requests to elsewhere are noticed", async (t) => {
  const script = `${ALARM}("x"); fetch("http://127.0.0.1:9/").catch(() => {});
    try { document.body.innerHTML = "<b>x</b>" } catch {}
    setTimeout(() => { throw new Error("thrown") });`;
  const origin = await served(t, `<main><h1>x</h1><p onclick="1" style="color: red">text</p></main>`, script);
  const { page, wrong } = await opened(t, origin);
  await page.goto("http://127.0.0.1:9/").catch(() => {});
  const policy = ["style-src", "script-src-attr", "connect-src", "trusted"];
  for (const sign of [...policy, "script ran: x", "request to http", "thrown"]) {
    await until(`${sign} is noticed`, () => wrong.some((what) => what.toLowerCase().includes(sign)));
  }
});

test("axe-core runs under the policy and finds what is wrong", async (t) => {
  const good = await opened(t, await served(t, `<main><h1>x</h1><button>b</button></main>`, ""));
  assert.deepEqual(await violations(good.page), []);
  const bad = await opened(t, await served(t, `<main><h1>x</h1><button></button></main>`, ""));
  assert.deepEqual((await violations(bad.page)).map((violation) => violation.rule), ["button-name"]);
  assert.deepEqual([...good.wrong, ...bad.wrong], []);
});
