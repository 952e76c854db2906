// What leaves the workbench: a report as one file, references and the graph, and the answer as an app of an AI's client.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { violations } from "../support/axe.mjs";
import { Bench, shot } from "../support/bench.mjs";
import { Client, host } from "../support/mcp.mjs";
import { until } from "../support/until.mjs";

/** A file is no request to elsewhere. */
const FILE = /request to file:/;

test("a report is one file that opens without a server, and says what is stored", async (t) => {
  const bench = await Bench.start(t);
  const page = await bench.open(`/tasks/${bench.task}`);
  await page.getByRole("link", { name: "Report (one page" }).click();
  await page.waitForURL(/\/report$/);
  const [asked] = (await bench.server.api("GET", `/tasks/${bench.task}/report`)).claims;
  await page.getByRole("heading", { level: 2, name: "Evidence on the question" }).waitFor();
  assert.ok((await page.locator("main").innerText()).includes(asked.claim));

  const written = await bench.store.run("task", "export", bench.task, "--format", "html");
  const file = join(bench.store.folder, "report.html");
  writeFileSync(file, written);
  await bench.server.stop();
  for (const colorScheme of ["light", "dark"]) {
    const opened = await bench.open(pathToFileURL(file).href, {
      colorScheme, tolerate: [FILE], offline: true, javaScriptEnabled: false,
    });
    const text = await opened.locator("main").innerText();
    for (const part of [asked.claim, asked.confidence.toFixed(2)]) assert.ok(text.includes(part), part);
    const shown = await opened.locator("section[aria-labelledby=answer] .passage").count();
    assert.equal(shown, asked.supporting_count + asked.refuting_count);
    assert.equal(await opened.locator("script, link, img").count(), 0);
    for (const width of [380, 1280]) {
      await opened.setViewportSize({ width, height: 900 });
      await shot(opened, `report-file-${colorScheme}-${width}`);
    }
  }
  const printed = await bench.windows.at(-1).pdf({ format: "A4" });
  assert.ok(printed.length > 10_000, "it prints");
});

test("references and the graph are saved as files", async (t) => {
  const bench = await Bench.start(t);
  const page = await bench.open(`/tasks/${bench.task}`);
  const saved = async (name) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name }).click()]);
    return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
  };
  const references = await saved("References (RIS)");
  assert.equal(references.name, `lyra-${bench.task}.ris`);
  assert.equal(references.text, await bench.store.run("graph", "export", "--task", bench.task, "--format", "ris"));
  assert.ok(references.text.match(/^TY {2}- /gm).length > 1);
  const everything = JSON.parse((await saved("Everything (JSON)")).text);
  assert.deepEqual(everything.claims.length, (await bench.server.api("GET", `/tasks/${bench.task}/report`)).claims.length);
  assert.match((await saved("Graph (GraphML)")).text, /<graphml/);
  assert.match((await saved("Edges of the graph (CSV)")).text, /supports/);
});

test("an AI's client shows the answer as an app, in which a person corrects a passage", async (t) => {
  const bench = await Bench.start(t);
  const client = await Client.connect(bench.server);
  const { tools } = await client.ask("tools/list", {});
  const linked = tools.filter((tool) => tool._meta?.ui);
  assert.deepEqual(linked.map((tool) => tool.name), ["answer"]);
  const { contents: [template] } = await client.ask("resources/read", { uri: linked[0]._meta.ui.resourceUri });
  assert.equal(template.mimeType, "text/html;profile=mcp-app");
  const result = await client.ask("tools/call", { name: "answer", arguments: { task_id: bench.task, wait: 0 } });
  const [asked] = (await bench.server.api("GET", `/tasks/${bench.task}/report`)).claims;

  const page = await bench.open("/login");
  await page.goto("about:blank");
  const app = await host(page, client, template.text, result, { theme: "dark", locale: "en-US" });
  await app.getByRole("heading", { level: 2, name: "Evidence on the question" }).waitFor();
  assert.equal(await app.locator("html").getAttribute("data-theme"), "dark");
  assert.ok((await app.locator("main").innerText()).includes(asked.confidence.toFixed(2)));
  await shot(page, "app-dark-1280");

  const button = app.locator("section[aria-labelledby=answer] button[data-relation=neutral]").first();
  const edge = await button.getAttribute("data-edge");
  await button.click();
  await app.getByRole("status").getByText("Saved.").waitFor();
  const now = await bench.store.claim(asked.claim_id);
  assert.equal(now.evidence.find((evidence) => evidence.edge_id === edge).relation, "neutral");
  assert.ok((await app.locator("main").innerText()).includes(now.confidence.toFixed(2)), "the number moved");
  await until("the model learns of it", () => page.evaluate((edge) => JSON.stringify(globalThis.seen.told).includes(edge), edge));

  // Documents of this store have no address on the web.
  await app.locator("main").evaluate((main) => {
    main.append(Object.assign(document.createElement("a"), { href: "https://example.org/", textContent: "a link" }));
  });
  await app.getByRole("link", { name: "a link" }).click();
  await until("a link goes to the client", () => page.evaluate(() => globalThis.seen.opened.length === 1));
  await page.evaluate(() => globalThis.tellApp({ method: "ui/notifications/host-context-changed", params: { locale: "ja-JP", theme: "light" } }));
  await app.getByRole("heading", { level: 2, name: "質問に対する根拠" }).waitFor();
  await shot(page, "app-ja-light-1280");
  assert.deepEqual((await violations(page)).map((found) => found.rule).filter((rule) => !PAGE_OF_CLIENT.has(rule)), []);

  const plain = await Client.connect(bench.server, {});
  const listed = JSON.stringify(await plain.ask("tools/list", {}));
  assert.ok(listed.includes('"name":"answer"') && !listed.includes("ui://"), "a client without apps learns of none");
});

/** What axe finds wrong with the empty page around the app. */
const PAGE_OF_CLIENT = new Set(["document-title", "html-has-lang", "landmark-one-main", "page-has-heading-one", "region"]);
