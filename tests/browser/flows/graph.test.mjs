// Graph: the same nodes and relations as they are stored, as a picture, on a canvas, and as tables.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Bench, shot } from "../support/bench.mjs";
import { TITLES } from "../support/hostile.mjs";
import { kept, mark } from "../support/pages.mjs";
import { seed } from "../support/seed.mjs";
import { until } from "../support/until.mjs";

const SKIP = seed("large").skipped ?? false;

/** The graph of the task as the API gives it. */
async function graph(bench, query = "") {
  const answer = await fetch(bench.server.url(`/api/v1/tasks/${bench.task}/graph${query}`));
  assert.equal(answer.status, 200, await answer.clone().text());
  return answer.json();
}

/** The graph's page, with its canvas drawn. */
async function drawn(bench, query = "", how = {}) {
  const page = await bench.open(`/tasks/${bench.task}/graph${query}`, how);
  await page.locator(".graph[data-drawn] canvas").waitFor();
  return page;
}

/** Ids of the nodes in the table. */
function rows(page) {
  return page.locator("#graph-nodes tbody tr").evaluateAll((all) => all.map((row) => row.id.replace(/^row-/, "")));
}

const ids = (view) => view.nodes.map((node) => node.node_id);
const said = (page) => page.locator("[data-said]").innerText();
const selected = (page) => page.locator(".graph canvas").getAttribute("data-selected");

test("the graph has the claims and judgments that are stored", async (t) => {
  const bench = await Bench.start(t);
  const claims = await bench.claims();
  const view = await graph(bench, "?relations=supports,refutes,neutral");
  const shown = view.nodes.filter((node) => node.kind === "claim");
  assert.deepEqual(shown.map((node) => node.node_id).sort(), claims.map((claim) => claim.claim_id).sort());
  for (const node of shown) {
    const stored = claims.find((claim) => claim.claim_id === node.node_id);
    assert.equal(node.confidence.toFixed(3), stored.confidence.toFixed(3));
  }
  for (const [relation, column] of [["supports", "support_count"], ["refutes", "refute_count"], ["neutral", "neutral_count"]]) {
    const edges = view.edges.filter((edge) => edge.relation === relation);
    const stored = claims.reduce((sum, claim) => sum + claim[column], 0);
    assert.equal(edges.reduce((sum, edge) => sum + edge.count, 0), stored, relation);
  }
  assert.ok(!(await graph(bench)).edges.some((edge) => edge.relation === "neutral"), "neutral ones are off at first");
});

test("the graph is whole without JavaScript", async (t) => {
  const bench = await Bench.start(t);
  const page = await bench.open(`/tasks/${bench.task}`, { javaScriptEnabled: false });
  await page.getByRole("link", { name: "Graph", exact: true }).click();
  const all = await graph(bench);
  assert.deepEqual(await rows(page), ids(all).slice(0, 50));
  assert.equal(await page.locator("#graph-picture svg a").count(), all.nodes.length);
  await shot(page, "graph-without-javascript");

  const form = page.getByRole("form", { name: "What the graph shows" });
  await form.getByRole("checkbox", { name: "Works", exact: true }).uncheck();
  await form.getByRole("checkbox", { name: "Passages", exact: true }).check();
  await form.getByRole("checkbox", { name: "Refutes", exact: true }).uncheck();
  await form.getByRole("button", { name: "Apply" }).click();
  await page.waitForURL(/kinds=/);
  const passages = await graph(bench, "?kinds=claim,passage&relations=supports,origin,cites,part_of");
  assert.deepEqual(await rows(page), ids(passages).slice(0, 50));
  assert.ok(passages.nodes.some((node) => node.kind === "passage"));

  await page.goto(`/tasks/${bench.task}/graph`);
  await page.getByRole("link", { name: "Show the relations as a table" }).click();
  assert.equal(await page.locator("#graph-edges tbody tr").count(), all.edges.length);
  await page.getByRole("link", { name: "Follow", exact: true }).first().click();
  await page.waitForURL(/around=/);
  const near = await graph(bench, `?around=${all.nodes[0].node_id}`);
  assert.deepEqual(await rows(page), ids(near).slice(0, 50));
  await page.getByRole("link", { name: "Show the whole graph" }).click();
  await page.locator(`#graph-picture svg a[href="${all.nodes[0].path}"]`).click();
  await page.waitForURL(new RegExp(all.nodes[0].path.split("?")[0]));
});

test("filters change the graph and its tables without loading the page again", async (t) => {
  const bench = await Bench.start(t);
  const page = await drawn(bench);
  await mark(page);
  const all = await graph(bench);
  const word = all.nodes.find((node) => node.kind === "work").label.split(" ").find((part) => part.length > 6);
  await page.getByRole("searchbox", { name: "Find in the graph" }).fill(word);
  const found = await graph(bench, `?text=${encodeURIComponent(word)}`);
  assert.ok(found.matched_count > 0);
  await until("the table shows what was found", async () => String(await rows(page)) === String(ids(found).slice(0, 50)));
  await page.getByRole("searchbox", { name: "Find in the graph" }).fill("");
  await page.getByRole("checkbox", { name: "Neutral", exact: true }).check();
  const neutral = await graph(bench, "?relations=supports,refutes,neutral,origin,cites");
  await until("neutral judgments are shown", async () => String(await rows(page)) === String(ids(neutral).slice(0, 50)));
  assert.ok(await kept(page));
});

test("nodes are selected, opened, expanded, and followed from the keyboard", async (t) => {
  const bench = await Bench.start(t);
  const page = await drawn(bench);
  await mark(page);
  const all = await graph(bench);
  await page.locator(".graph canvas").focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await selected(page), all.nodes[0].node_id, "the heaviest node is where to begin");
  assert.ok((await said(page)).startsWith(all.nodes[0].label));
  const panel = page.getByRole("complementary", { name: "Selected node" });
  assert.equal(await panel.getByRole("heading").first().innerText(), all.nodes[0].label);

  // From there, each arrow leads to a neighbor, if there is one.
  const near = new Set(
    all.edges.flatMap(({ from, to }) => (from === 0 ? [to] : to === 0 ? [from] : [])).map((at) => all.nodes[at].node_id),
  );
  const seen = new Set();
  for (const key of ["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"]) {
    await page.keyboard.press("Escape");
    assert.equal(await selected(page), null);
    assert.equal(await said(page), "");
    await page.keyboard.press(key);
    await page.keyboard.press(key);
    seen.add(await selected(page));
  }
  assert.ok([...seen].some((id) => near.has(id)), "a neighbor was reached");
  for (const key of ["+", "-", "0"]) await page.keyboard.press(key);

  await page.keyboard.press("Escape");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("f");
  await page.waitForURL(/around=/);
  const around = await graph(bench, `?around=${all.nodes[0].node_id}`);
  await until("only what is near is shown", async () => String(await rows(page)) === String(ids(around).slice(0, 50)));
  assert.equal(await selected(page), all.nodes[0].node_id, "the selection stays");
  const edge = around.nodes.find((node) => node.hidden_count > 0);
  if (edge) {
    const listed = panel.getByRole("link", { name: edge.label, exact: true }).last();
    await listed.click();
    assert.equal(await selected(page), edge.node_id);
    await panel.getByRole("link", { name: "Expand", exact: true }).click();
    await page.waitForURL(/expand=/);
    const expanded = await graph(bench, `?around=${all.nodes[0].node_id}&expand=${edge.node_id}`);
    assert.ok(expanded.nodes.length > around.nodes.length);
    await until("its neighbors are shown", async () => String(await rows(page)) === String(ids(expanded).slice(0, 50)));
  }
  assert.ok(await kept(page));
  await page.locator(".graph canvas").focus();
  await page.keyboard.press("Escape");
  await page.keyboard.press("ArrowRight");
  const opened = await selected(page);
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(opened));
  await page.getByRole("heading", { level: 1 }).waitFor();
});

test("a pointer selects a node, moves the graph, and zooms it; a search highlights", async (t) => {
  const bench = await Bench.start(t);
  const page = await drawn(bench);
  const canvas = page.locator(".graph canvas");
  const box = await canvas.boundingBox();
  // Somewhere on the canvas is a node. Events of a pointer come with the next frame.
  const over = async () => (await canvas.getAttribute("data-over")) !== null;
  const settled = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const find = async () => {
    for (let y = 60; y < box.height && box.y + y < 890; y += 14) {
      for (let x = 20; x < box.width; x += 14) {
        await page.mouse.move(box.x + x, box.y + y);
        if (!(await over())) continue;
        await settled();
        if (await over()) return [x, y];
      }
    }
    return assert.fail("no node is under the pointer anywhere");
  };
  const [x, y] = await find();
  await page.mouse.click(box.x + x, box.y + y);
  const first = await selected(page);
  assert.ok(first);
  const picture = () => canvas.evaluate((node) => node.toDataURL());
  const before = await picture();
  // The panel has made the canvas narrower; its left edge is where it was.
  await page.mouse.move(box.x + 30, box.y + 300);
  await page.mouse.down();
  await page.mouse.move(box.x + 130, box.y + 360, { steps: 5 });
  await page.mouse.up();
  assert.equal(await selected(page), first, "moving selects nothing");
  await until("the graph has moved", async () => (await picture()) !== before);
  await page.mouse.wheel(0, -400);
  const all = await graph(bench);
  const word = all.nodes[0].label.split(" ").find((part) => part.length > 4);
  await page.getByRole("searchbox", { name: "Highlight" }).fill(word);
  const count = all.nodes.filter((node) => node.label.toLowerCase().includes(word.toLowerCase())).length;
  await until("what was found is counted", async () => (await page.locator("[data-count]").innerText()) === `${count} found`);
  await page.keyboard.press("Enter");
  assert.ok((await said(page)).toLowerCase().includes(word.toLowerCase()));
  await shot(page, "graph-selected");
});

test("text of documents stays text in the graph", async (t) => {
  const bench = await Bench.start(t, "hostile");
  for (const javaScriptEnabled of [true, false]) {
    const page = await bench.open(`/tasks/${bench.task}/graph?kinds=claim,work,passage`, { javaScriptEnabled });
    if (javaScriptEnabled) await page.locator(".graph[data-drawn] canvas").waitFor();
    const table = await page.locator("#graph-nodes").innerText();
    const view = await graph(bench, "?kinds=claim,work,passage");
    const hostile = view.nodes.filter((node) => /<script|<img|onmouseover/.test(node.label));
    assert.ok(hostile.length > 0, `none of ${TITLES} is a label`);
    for (const node of hostile.slice(0, 5)) assert.ok(table.includes(node.label.slice(0, 40)), node.label);
    if (!javaScriptEnabled) continue;
    await page.locator(".graph canvas").focus();
    for (const key of ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"]) await page.keyboard.press(key);
    assert.ok((await said(page)).length > 0);
    assert.equal(await page.locator("main script, main iframe, main img").count(), 0);
  }
});

test("5,000 nodes are moved", { skip: SKIP }, async (t) => {
  const bench = await Bench.start(t, "large");
  for (const limit of [300, 5_000]) {
    const started = performance.now();
    const view = await graph(bench, `?limit=${limit}`);
    const first = performance.now() - started;
    const json = JSON.stringify(view).length;
    t.diagnostic(
      `${view.nodes.length} nodes, ${view.edges.length} relations: ${first.toFixed(0)} ms at first, ${(json / 1000).toFixed(0)} kB of JSON`,
    );
    assert.equal(view.nodes.length, limit);
    assert.equal(view.left_out_count, view.fitting_count - limit);
  }
  const page = await drawn(bench, "?limit=5000");
  const canvas = page.locator(".graph canvas");
  const box = await canvas.boundingBox();
  await page.evaluate(() => {
    globalThis.frames = [];
    let last = performance.now();
    const next = (now) => {
      globalThis.frames.push(now - last);
      last = now;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
  const measured = async (what, act) => {
    await page.evaluate(() => (globalThis.frames = []));
    await act();
    const frames = (await page.evaluate(() => globalThis.frames)).sort((a, b) => a - b);
    const at = (share) => frames[Math.floor(share * (frames.length - 1))].toFixed(0);
    t.diagnostic(`${what}: ${frames.length} frames, median ${at(0.5)} ms, 95 % within ${at(0.95)} ms, longest ${at(1)} ms`);
  };
  await measured("panning 5,000 nodes", async () => {
    await page.mouse.move(box.x + 200, box.y + 200);
    await page.mouse.down();
    for (let round = 0; round < 3; round++) {
      await page.mouse.move(box.x + 900, box.y + 500, { steps: 40 });
      await page.mouse.move(box.x + 200, box.y + 200, { steps: 40 });
    }
    await page.mouse.up();
  });
  await canvas.focus();
  await measured("zooming 5,000 nodes", async () => {
    for (let i = 0; i < 30; i++) await page.mouse.wheel(0, i < 15 ? -120 : 120);
  });
  await shot(page, "graph-large");
});
