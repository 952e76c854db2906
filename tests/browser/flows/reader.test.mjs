// The reader: from a passage into its document and on to another claim; quarantine; files that are imported.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Bench } from "../support/bench.mjs";
import { passage } from "../support/pages.mjs";
import { INJECTION } from "../support/hostile.mjs";
import { FAST } from "../support/seed.mjs";
import { until } from "../support/until.mjs";

test("a passage leads into its document, and from there to its claim and back", async (t) => {
  const bench = await Bench.start(t);
  const [row] = await bench.claims();
  const stored = await bench.store.claim(row.claim_id);
  const evidence = stored.evidence.find((known) => known.relation === "supports");
  const page = await bench.open(`/claims/${row.claim_id}`);
  await passage(page, evidence.edge_id).getByRole("link", { name: "Read in the document" }).click();
  await page.waitForURL(`**/pages/${evidence.page_id}*`);
  await page.getByRole("heading", { level: 1, name: evidence.title }).waitFor();
  const text = page.locator(`[data-fragment="${evidence.fragment_id}"]`);
  await until("the passage is in view", () => text.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  }));
  const sentence = evidence.text.split(" … ")[0];
  await text.locator("mark").first().waitFor();
  assert.ok((await text.innerText()).includes(sentence), "the document has the passage word for word");
  await page.locator(`[data-edge="${evidence.edge_id}"] a[data-opens]`).click();
  await page.waitForURL(`**/claims/${row.claim_id}*`);
  await page.goBack();
  await page.waitForURL(`**/pages/${evidence.page_id}*`);
});

test("what is in quarantine is shown on request, as text that is not judged", async (t) => {
  const bench = await Bench.start(t, "hostile", FAST);
  const sql = "SELECT page_id FROM quarantined_fragments";
  const [{ page_id: found }] = (await bench.server.api("POST", "/sql", { sql })).rows;
  const shown = await (await fetch(bench.server.url(`/pages/${found}`))).text();
  assert.ok(!shown.includes(INJECTION), "it is not shown without being asked for");
  const page = await bench.open(`/pages/${found}`);
  await page.getByRole("link", { name: "Show them as plain text" }).click();
  const passage = page.locator("[data-fragment]").filter({ hasText: INJECTION });
  await passage.getByText("In quarantine").waitFor();
  assert.equal(await passage.locator("mark").count(), 0);
});

test("files are imported by choosing or dropping them", async (t) => {
  const bench = await Bench.start(t, "nap", FAST);
  const page = await bench.open("/");
  const notes = join(bench.store.folder, "moss.md");
  writeFileSync(notes, "# Moss and rain\n\nMoss held twelve times its weight in water after a night of rain.\n");
  await page.getByLabel("Corpus", { exact: true }).fill("library");
  await page.getByLabel("Files", { exact: true }).setInputFiles(notes);
  const documents = async () =>
    (await bench.store.json("corpus", "list")).find((corpus) => corpus.name === "library")?.documents ?? 0;
  await until("the chosen file is imported", async () => (await documents()) === 1);

  const dropped = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    const text = "# Lichen and frost\n\nLichen survived forty nights of frost on bare rock.\n";
    transfer.items.add(new File([text], "lichen.md", { type: "text/markdown" }));
    return transfer;
  });
  await page.locator("form[data-imports]").dispatchEvent("drop", { dataTransfer: dropped });
  await until("the dropped file is imported", async () => (await documents()) === 2);
  const hits = await bench.store.run("corpus", "search", "library", "lichen frost");
  assert.match(hits, /Lichen/);
  await page.reload();
  await page.getByText("Where to look, and how far").click();
  await page.getByLabel(/^library/).waitFor();
});
