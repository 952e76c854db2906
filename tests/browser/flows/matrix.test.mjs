// Claims by works: cells, links, the keyboard, and the file, compared with what is stored.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { Bench } from "../support/bench.mjs";
import { TITLES } from "../support/hostile.mjs";
import { passage } from "../support/pages.mjs";
import { FAST } from "../support/seed.mjs";
import { until } from "../support/until.mjs";

/** What the table shows: by claim, the class and the judgment of each cell with one. */
function shown(page) {
  return page.locator("[data-row]").evaluateAll((rows) =>
    rows.map((row) => [
      row.getAttribute("data-row"),
      Array.from(row.querySelectorAll("[data-edge]"), (cell) => `${cell.className} ${cell.getAttribute("data-edge")}`),
    ]));
}

/** The same from the API. */
function stored(matrix) {
  return matrix.claims.map((row) => [row.claim_id, row.cells.map((cell) => `side ${cell.relation} ${cell.edge_id}`)]);
}

/** The surest side of each work of a claim, from its passages. */
function sides(claim) {
  const works = new Map();
  const rank = ({ relation, nli_confidence: weight }) => [relation !== "neutral", weight, relation === "refutes"];
  for (const evidence of claim.evidence) {
    const key = evidence.work_id ?? evidence.page_id;
    const [a, b] = [rank(evidence), works.has(key) ? rank(works.get(key)) : [false, -1, false]];
    const at = a.findIndex((value, i) => value !== b[i]);
    if (at >= 0 && a[at] > b[at]) works.set(key, evidence);
  }
  return works;
}

test("each cell is what the work's surest passage says, and leads to it", async (t) => {
  const bench = await Bench.start(t);
  const page = await bench.open(`/tasks/${bench.task}`);
  await page.getByRole("navigation", { name: "Views of this task" }).getByRole("link", { name: "Matrix" }).click();
  await page.waitForURL(/\/matrix$/);
  const matrix = await bench.server.api("GET", `/tasks/${bench.task}/matrix?works_limit=20`);
  assert.ok(matrix.claims.length > 3 && matrix.works.length > 3);
  assert.deepEqual(await shown(page), stored(matrix));

  const whole = await bench.server.api("GET", `/tasks/${bench.task}/matrix?works_limit=500`);
  for (const row of whole.claims.slice(0, 4)) {
    const works = sides(await bench.store.claim(row.claim_id));
    const relations = Object.fromEntries(row.cells.map((cell) => [cell.work_key, cell.relation]));
    assert.deepEqual(relations, Object.fromEntries(Array.from(works, ([key, { relation }]) => [key, relation])));
  }
  const [cell] = matrix.claims.find((row) => row.cells.some((cell) => cell.relation !== "neutral")).cells
    .filter((cell) => cell.relation !== "neutral");
  await page.locator(`[data-edge="${cell.edge_id}"]`).click();
  await page.waitForURL(new RegExp(`/claims/.*#${cell.edge_id}`));
  await passage(page, cell.edge_id).waitFor();
});

test("arrow keys move between judgments, and filters narrow rows and columns", async (t) => {
  const bench = await Bench.start(t);
  const page = await bench.open(`/tasks/${bench.task}/matrix`);
  const matrix = await bench.server.api("GET", `/tasks/${bench.task}/matrix?works_limit=20`);
  const row = matrix.claims.find(({ cells }) => cells.length > 1);
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("data-edge"));
  await page.locator(`[data-edge="${row.cells[0].edge_id}"]`).focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await focused(), row.cells[1].edge_id);
  await page.keyboard.press("End");
  assert.equal(await focused(), row.cells.at(-1).edge_id);
  await page.keyboard.press("Home");
  assert.equal(await page.evaluate(() => document.activeElement?.closest("th")?.scope), "row");
  await page.keyboard.press("ArrowUp");
  assert.notEqual(await page.evaluate(() => document.activeElement?.tagName), "BODY");

  await page.getByLabel("Only works that take a side").check();
  await page.waitForURL(/sided=1/);
  const narrowed = await bench.server.api("GET", `/tasks/${bench.task}/matrix?works_limit=20&sided=true&side=contested`);
  await page.getByRole("combobox", { name: "Evidence", exact: true }).selectOption({ label: "Contested" });
  await until("contested claims alone", async () => JSON.stringify(await shown(page)) === JSON.stringify(stored(narrowed)));
  assert.ok(narrowed.works.every((work) => work.supporting + work.refuting > 0));
});

test("works that name one registration are shown with that reason", async (t) => {
  const bench = await Bench.start(t);
  const address = `/tasks/${bench.task}/matrix`;
  const before = await bench.server.api("GET", `${address}?works_limit=20`);
  assert.ok(!before.links.some(({ kind }) => kind === "registration"));
  const works = before.works.slice(0, 2);
  const sql = works.map(({ page_id: page }) =>
    `INSERT INTO fragments (id, page_id, fragment_type, position, text_content, char_start, char_end, text_hash)
     VALUES ('frag_${page.slice(5)}', '${page}', 'paragraph', 99, 'Registered as NCT01234567.', 0, 9, 'nct');`);
  const program = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.executescript(sys.argv[2]); db.close()";
  execFileSync("python3", ["-c", program, join(bench.store.folder, "lyra.db"), sql.join("\n")]);
  const after = await bench.server.api("GET", `${address}?works_limit=20`);
  const link = after.links.find(({ kind }) => kind === "registration");
  assert.deepEqual([link.value, [...link.work_keys].sort()], ["NCT01234567", works.map((work) => work.work_key).sort()]);
  const page = await bench.open(address);
  const listed = page.locator('[data-link="registration"]');
  assert.match(await listed.innerText(), /NCT01234567/);
  const letter = (await listed.locator("b").first().innerText()).trim();
  for (const { work_key: key } of works) {
    const head = page.locator("th[data-work]").filter({ has: page.locator("b") });
    const marked = await head.evaluateAll((all) => all.map((th) => [th.dataset.work, th.querySelector("b").textContent]));
    assert.ok(marked.some(([work, letters]) => work === key && letters.split(" ").includes(letter)), key);
  }
});

test("the matrix is whole without JavaScript and as a file, and titles stay text", async (t) => {
  const bench = await Bench.start(t, "hostile", FAST);
  const page = await bench.open(`/tasks/${bench.task}/matrix`, { javaScriptEnabled: false });
  const matrix = await bench.server.api("GET", `/tasks/${bench.task}/matrix?works_limit=20`);
  assert.deepEqual(await shown(page), stored(matrix));
  const text = await page.locator("main").textContent();
  assert.ok(TITLES.some((title) => text.includes(title)), "no hostile title is shown");
  assert.equal(await page.locator("main :is(img, script, iframe)").count(), 0);
  const link = await page.getByRole("link", { name: "Save as CSV" }).getAttribute("href");
  const answer = await fetch(bench.server.url(link));
  assert.match(answer.headers.get("content-type"), /^text\/csv/);
  assert.match(answer.headers.get("content-disposition"), /^attachment; filename="matrix-task_[\w-]+\.csv"$/);
  const file = await answer.text();
  for (const { claim_id: id } of matrix.claims) assert.ok(file.includes(`\r\n${id},`), id);
  await page.getByLabel("Only works that take a side").check();
  await page.getByRole("button", { name: "Apply" }).click();
  await page.waitForURL(/sided=1/);
});
