// Library: search a corpus, read a document of it, and remove it.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Bench } from "../support/bench.mjs";
import { FAST } from "../support/seed.mjs";

const MOSS = [
  { id: "10.1000/moss.1", title: "Moss on tin roofs", abstract: "Moss on tin roofs reduced rain noise by six decibels.", year: 2019 },
  { id: "moss 2", title: "Lichen and frost", abstract: "Lichen survived forty nights of frost on bare rock.", year: 2021 },
];

/** A bench with a corpus beside that of its task. */
async function start(t) {
  const bench = await Bench.start(t, "nap", FAST);
  const file = join(bench.store.folder, "moss.jsonl");
  writeFileSync(file, MOSS.map((document) => `${JSON.stringify(document)}\n`).join(""));
  await bench.store.run("corpus", "import", "moss", file, "--offline", "--quiet");
  return bench;
}

async function names(bench) {
  return (await bench.store.json("corpus", "list")).map((corpus) => corpus.name);
}

test("a search finds what the command finds, and a document is read and left", async (t) => {
  const bench = await start(t);
  const page = await bench.open("/corpora");
  await page.getByRole("link", { name: "example" }).click();
  await page.waitForURL("**/corpora/example");
  await page.getByRole("searchbox").fill("naps of shift workers");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await page.waitForURL(/query=naps/);
  const hits = await bench.store.json("corpus", "search", "example", "naps of shift workers");
  const shown = await page.locator("#found h3").allInnerTexts();
  const wanted = hits.map((hit) => hit.title);
  assert.ok(wanted.length > 3);
  assert.deepEqual(shown.slice(0, wanted.length), wanted);

  const [best] = hits;
  await page.locator("#found h3 a").first().click();
  await page.getByRole("heading", { level: 1, name: best.title }).waitFor();
  const text = await page.locator("article").innerText();
  assert.ok(text.includes(best.text), "the abstract is there word for word");
  await page.locator(".crumbs").getByRole("link", { name: "example" }).click();
  await page.waitForURL("**/corpora/example");
});

test("ids with slashes and spaces lead to their documents", async (t) => {
  const bench = await start(t);
  const page = await bench.open("/corpora/moss?query=frost+rain");
  for (const { title, abstract } of MOSS) {
    await page.getByRole("link", { name: title }).click();
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    await page.getByText(abstract).waitFor();
    await page.goBack();
  }
});

test("a corpus is removed after a question, and what tasks took from it stays", async (t) => {
  const bench = await start(t);
  const claims = await bench.claims();
  const page = await bench.open("/corpora/moss", { tolerate: [/^dialog:/] });
  await page.getByRole("button", { name: "Remove" }).click();
  assert.ok((await names(bench)).includes("moss"), "a dismissed question removes nothing");
  await page.evaluate(() => (globalThis.confirm = () => true));
  await page.getByRole("button", { name: "Remove" }).click();
  await page.waitForURL(/\/corpora$/);
  assert.ok(!(await names(bench)).includes("moss"));
  assert.equal(await page.getByRole("link", { name: "moss" }).count(), 0);

  await page.goto("/corpora/example");
  await page.evaluate(() => (globalThis.confirm = () => true));
  await page.getByRole("button", { name: "Remove" }).click();
  await page.waitForURL(/\/corpora$/);
  assert.deepEqual(await names(bench), []);
  assert.equal((await bench.claims()).length, claims.length);
  const stored = await bench.store.claim(claims[0].claim_id);
  assert.ok(stored.evidence.length > 0);
  await page.goto(`/pages/${stored.evidence[0].page_id}`);
  await page.locator("main article, main .reading").first().waitFor();
});
