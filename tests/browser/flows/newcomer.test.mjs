// The way of a person who never used a terminal, from `lyra open` to a report: PDFs, a question, a correction.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { browser, window } from "../support/browser.mjs";
import { Store } from "../support/lyra.mjs";
import { confidence } from "../support/pages.mjs";
import { FAST } from "../support/seed.mjs";
import { PATIENCE, until } from "../support/until.mjs";

/** Invented papers: title and findings. */
const PAPERS = [
  ["Moss on roofs in wet towns", "We measured forty roofs for two years. Moss on roofs reduces rain noise in the rooms below by six decibels. The effect was largest on tin roofs."],
  ["Roof moss and the sound of rain", "In a trial of thirty houses, moss on roofs reduced rain noise in bedrooms at night. Residents slept longer."],
  ["No quieter under moss", "We recorded twelve cottages. Moss on roofs did not reduce rain noise in any room. Microphones were hidden in attics."],
];
const QUESTION = "Does moss on roofs reduce rain noise?";

/** A store, and a program in place of the person's browser that writes down what it shall open. */
function desk() {
  const store = Store.temporary(undefined, FAST);
  const programs = join(store.folder, "programs");
  const opened = join(store.folder, "opened");
  mkdirSync(programs);
  writeFileSync(join(programs, "xdg-open"), `#!/bin/sh\necho "$1" >> "${opened}"\n`);
  chmodSync(join(programs, "xdg-open"), 0o755);
  store.variables = { ...FAST, PATH: `${programs}:${process.env.PATH}` };
  const addresses = () => (existsSync(opened) ? readFileSync(opened, "utf8").trim().split("\n") : []);
  return { store, addresses };
}

/** A folder of PDFs. */
async function papers(folder) {
  mkdirSync(join(folder, "wet"), { recursive: true });
  const context = await (await browser()).newContext();
  const page = await context.newPage();
  for (const [at, [title, text]] of PAPERS.entries()) {
    const body = text.split(". ").map((sentence) => `<p>${sentence.replace(/\.?$/, ".")}</p>`).join("");
    await page.setContent(`<html lang="en"><title>${title}</title><h1>${title}</h1><h2>Results</h2>${body}</html>`);
    await page.pdf({ path: join(folder, at === 0 ? "wet/roofs.pdf" : `paper ${at}.pdf`), format: "A4" });
  }
  writeFileSync(join(folder, ".DS_Store"), "hidden");
  writeFileSync(join(folder, "machine.bin"), Buffer.from([0, 1, 2, 3, 255, 254]));
  await context.close();
}

test("from `lyra open` over a folder of PDFs to a report", async (t) => {
  const { store, addresses } = desk();
  const wrong = [];
  const server = store.spawned(["open"], ["ignore", "ignore", "pipe"]);
  const ended = new Promise((resolve) => server.once("exit", resolve));
  let page;
  t.after(async () => {
    await page?.context().close();
    server.kill("SIGINT");
    const late = setTimeout(() => server.kill("SIGKILL"), PATIENCE / 2);
    await ended;
    clearTimeout(late);
    store.remove();
    assert.deepEqual(wrong, []);
  });
  await until("the browser is opened", () => addresses().length === 1);
  const [address] = addresses();
  assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/$/);
  assert.equal((await store.run("open", "--print")).trim(), address);

  page = await window(address.replace(/\/$/, ""), wrong);
  await page.goto("/");
  const folder = join(store.folder, "papers");
  await papers(folder);
  await page.getByLabel("A whole folder").setInputFiles(folder);
  await page.getByText("Imported: 3.").waitFor();
  await page.getByRole("listitem").filter({ hasText: "machine.bin" }).waitFor();
  const corpora = await store.json("corpus", "list");
  assert.equal(corpora.find((corpus) => corpus.name === "library").documents, 3);

  await page.getByRole("textbox", { name: "Question or claim" }).fill(QUESTION);
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await page.waitForURL(/\/tasks\/task_/);
  const task = page.url().match(/task_\w+/)[0];
  await page.locator("#head .pill", { hasText: "Done" }).waitFor();
  await page.getByRole("link", { name: "See the evidence" }).click();
  await page.waitForURL(/\/claims\//);
  const claim = page.url().match(/claim_\w+/)[0];
  const before = await store.claim(claim);
  assert.ok(before.evidence.length >= 2, "passages of the papers were judged");
  assert.equal(await confidence(page), before.confidence.toFixed(2));

  // It is cited by its section and page, as stored.
  const place = "Results, p. 1";
  assert.ok(before.evidence.some((evidence) => evidence.section === place), JSON.stringify(before.evidence));
  assert.ok((await page.locator("#evidence").innerText()).includes(place), `${place} is shown`);

  // A passage in its document, and back.
  const item = page.locator("li[data-edge]").filter({ visible: true }).first();
  const edge = await item.getAttribute("data-edge");
  await item.getByRole("link", { name: "Read in the document" }).click();
  await page.locator("main mark").first().waitFor();
  await page.goBack();

  const known = before.evidence.find((evidence) => evidence.edge_id === edge);
  const side = known.relation === "refutes" ? "Supports" : "Refutes";
  await page.locator(`li[data-edge="${edge}"]`).getByRole("button", { name: side, exact: true }).click();
  await until("the number moves", async () => (await confidence(page)) !== before.confidence.toFixed(2));
  const after = await store.claim(claim);
  assert.equal(after.evidence.find((evidence) => evidence.edge_id === edge).relation, side.toLowerCase());
  assert.equal(await confidence(page), after.confidence.toFixed(2));

  await page.goto(`/tasks/${task}`);
  await page.getByRole("link", { name: "Report (one page" }).click();
  await page.waitForURL(/\/report$/);
  const report = await page.locator("main").innerText();
  for (const part of [QUESTION, after.confidence.toFixed(2)]) assert.ok(report.includes(part), `${part} in ${report}`);

  // A second `lyra open` finds the server, and ends.
  await store.run("open", task);
  await until("the task is opened", () => addresses().length === 2);
  assert.equal(addresses()[1], `${address}tasks/${task}`);
});
