// Screening from the keyboard: what is decided is stored, taken back, kept over a reload, and counted in the PRISMA flow.
import assert from "node:assert/strict";
import { test } from "node:test";
import { violations } from "../support/axe.mjs";
import { Bench, shot } from "../support/bench.mjs";
import { TITLES } from "../support/hostile.mjs";
import { overhang, unfold } from "../support/pages.mjs";
import { FAST } from "../support/seed.mjs";
import { until } from "../support/until.mjs";

/** The document that is shown. */
function here(page) {
  return page.locator("#queue > [data-here]");
}

async function shown(page) {
  return here(page).getAttribute("data-page");
}

async function state(bench, limit = 50) {
  return bench.server.api("GET", `/tasks/${bench.task}/screening?limit=${limit}`);
}

async function decisions(bench, query = "") {
  return (await bench.server.api("GET", `/tasks/${bench.task}/screening/decisions?limit=200${query}`)).decided;
}

async function decided(bench, id) {
  return (await decisions(bench)).find((one) => one.page_id === id);
}

async function put(bench, id, body) {
  return fetch(bench.server.url(`/api/v1/tasks/${bench.task}/screening/${id}`), {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

test("documents are decided, excluded with a reason, put off, and taken back from the keyboard", async (t) => {
  const bench = await Bench.start(t);
  const before = await state(bench);
  assert.ok(before.progress.documents >= 5, `the seed has ${before.progress.documents} documents`);
  const page = await bench.open(`/tasks/${bench.task}/screening`);
  const first = await shown(page);
  assert.equal(first, before.next[0].page_id, "the page shows what the API names next");
  assert.equal(await here(page).getByRole("heading", { level: 2 }).innerText(), before.next[0].title);
  assert.ok((await here(page).locator("mark").count()) > 0, "words of the question are marked");

  await page.keyboard.press("i");
  await until("included", async () => (await decided(bench, first))?.verdict === "include");
  const second = await shown(page);
  assert.notEqual(second, first);
  await page.keyboard.press("e");
  await page.locator("#why[open]").waitFor();
  await page.keyboard.press("5");
  await until("excluded with the fifth reason", async () => (await decided(bench, second))?.reason === "not a study");
  await page.getByText("Excluded: Not a study.").waitFor();

  const third = await shown(page);
  await page.keyboard.press("e");
  await page.locator("#why-0:focus").waitFor();
  await page.keyboard.press("Enter");
  await until("excluded without a reason", async () => (await decided(bench, third))?.verdict === "exclude");
  assert.equal((await decided(bench, third)).reason, null);
  const fourth = await shown(page);
  await page.keyboard.press("d");
  await until("put off", async () => (await decided(bench, fourth))?.verdict === "undecided");
  await until("the numbers follow", async () => (await page.locator("#count-undecided").innerText()) === "1");
  const { progress, curve, recall } = await state(bench);
  assert.deepEqual([progress.included, progress.excluded, progress.undecided], [1, 2, 1]);
  assert.deepEqual(curve.at(-1), { screened: 3, included: 1 });
  assert.equal(await page.locator("#count-included").innerText(), "1");
  assert.ok((await page.locator("#recall-bound").innerText()).startsWith(`${Math.round(recall.at_least * 100)} %`));

  await page.keyboard.press("u");
  await until("taken back", async () => (await decided(bench, fourth)) === undefined);
  await until("it is shown again", async () => (await shown(page)) === fourth);
  // Faster than the answer.
  await page.keyboard.press("d");
  await page.keyboard.press("u");
  await until("it is shown once more", async () => (await shown(page)) === fourth);
  assert.equal(await decided(bench, fourth), undefined);
  assert.equal((await decided(bench, third)).verdict, "exclude", "the decision before stays");

  await page.keyboard.press("u");
  await until("the one before as well", async () => (await decided(bench, third)) === undefined);

  const now = await state(bench);
  await page.reload();
  assert.equal(await shown(page), now.next[0].page_id, "a reload shows what is next by what is stored");
  await page.keyboard.press("j");
  assert.equal(await shown(page), now.next[1].page_id);
  await page.keyboard.press("k");
  assert.equal(await shown(page), now.next[0].page_id);
  assert.equal((await decisions(bench)).length, 2, "skipping decides nothing");

  await page.locator("#decided > ul > li").nth(1).waitFor();
  await page.getByRole("combobox", { name: "Decision", exact: true }).selectOption({ label: "Excluded" });
  await until("one is listed", async () => (await page.locator("#decided > ul > li").count()) === 1);
  await page.locator(`#decided-${second}`).getByRole("link", { name: "Judge again" }).click();
  await page.waitForURL(/page=/);
  assert.equal(await shown(page), second);
  await page.getByRole("button", { name: "Include", exact: false }).click();
  await until("replaced", async () => (await decided(bench, second)).verdict === "include");
  const materials = await bench.server.api("GET", `/tasks/${bench.task}/materials`);
  const history = materials.screening.filter((made) => made.page_id === second);
  assert.deepEqual(history.map((made) => made.verdict), ["exclude", "include"]);
});

test("two windows do not overwrite each other silently", async (t) => {
  const bench = await Bench.start(t);
  // One window hears of nothing, the other one of everything, also of what happens before it listens.
  const page = await bench.open("/login", { tolerate: [/status of 409/, /ERR_FAILED/] });
  await page.route("**/api/v1/events**", (route) => route.abort());
  await page.goto(`/tasks/${bench.task}/screening`);
  const id = await shown(page);
  const listening = await bench.open("/login");
  let decide;
  const decision = new Promise((resolve) => (decide = resolve));
  await listening.route("**/api/v1/events**", (route) => decision.then(() => route.continue()));
  await listening.goto(`/tasks/${bench.task}/screening`);
  assert.equal(await shown(listening), id);
  assert.equal((await put(bench, id, { verdict: "exclude", reason: "duplicate" })).status, 200);
  decide();
  await until("a window that hears of it goes on", async () => (await shown(listening)) !== id);
  const blind = await put(bench, id, { verdict: "include" });
  assert.equal(blind.status, 409);
  const problem = await blind.json();
  assert.deepEqual([problem.code, problem.details.given_reason], ["conflict", "duplicate"]);
  await page.keyboard.press("i");
  await page.locator(".notice.error").getByText("was decided in between").waitFor();
  assert.equal((await decided(bench, id)).verdict, "exclude", "nothing was overwritten");
  assert.notEqual(await shown(page), id);
});

test("a decision that cannot be stored comes back", async (t) => {
  const bench = await Bench.start(t);
  const page = await bench.open(`/tasks/${bench.task}/screening`, { tolerate: [/ERR_FAILED/] });
  const id = await shown(page);
  await page.route("**/screening/page_*", (route) => route.abort());
  await page.keyboard.press("i");
  await page.locator(".notice.offline").waitFor();
  await until("it is shown again", async () => (await shown(page)) === id);
  assert.equal(await decided(bench, id), undefined);
});

test("the PRISMA flow shows what is stored, and files hold the decisions", async (t) => {
  const bench = await Bench.start(t);
  const { next } = await state(bench);
  const verdicts = ["include", "exclude", "exclude", "undecided"];
  for (const [at, verdict] of verdicts.entries()) {
    const reason = at === 1 ? "wrong outcome" : undefined;
    assert.equal((await put(bench, next[at].page_id, { verdict, reason })).status, 200);
  }
  const flow = await bench.server.api("GET", `/tasks/${bench.task}/prisma`);
  assert.deepEqual([flow.screened, flow.undecided, flow.included], [3, 1, 1]);
  const excluded = flow.excluded_reports.reduce((sum, { count }) => sum + count, 0);
  assert.equal(flow.excluded + flow.not_retrieved + excluded + flow.included, flow.screened);
  const removed = flow.duplicates + flow.blocked + flow.quarantined;
  assert.equal(flow.identified - removed, flow.screened + flow.undecided + flow.open);
  const page = await bench.open(`/tasks/${bench.task}/prisma`);
  await unfold(page);
  const rows = await page.locator("#flow table tbody tr").evaluateAll((all) =>
    all.map((row) => [row.cells[0].textContent.trim(), row.cells[1].textContent.trim()]),
  );
  const shows = Object.fromEntries(rows);
  for (const [name, count] of [
    ["Records identified", flow.identified],
    ["Duplicates of another record", flow.duplicates],
    ["Records screened", flow.screened],
    ["Records excluded on title or abstract", flow.excluded],
    ["Reports assessed for eligibility", flow.assessed],
    ["Included", flow.included],
    ["Not decided yet", flow.open],
    ["Ineligible by automation tools", "not recorded"],
  ]) {
    assert.equal(shows[name], count.toLocaleString("en-US"), name);
  }
  await page.goto(`/tasks/${bench.task}/screening`);
  const file = async (link) => {
    const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: link }).click()]);
    return (await saved.createReadStream().then((stream) => stream.toArray())).join("");
  };
  const csv = await file("Decisions as CSV");
  assert.equal(csv.trim().split("\r\n").length, 5, csv);
  assert.ok(csv.includes("wrong outcome"));
  const ris = await file("Included works as RIS");
  assert.equal(ris.match(/^TY {2}- /gm)?.length, 1, ris);
  const svg = await (await fetch(bench.server.url(`/tasks/${bench.task}/prisma.svg`))).text();
  assert.ok(svg.startsWith("<svg xmlns=") && svg.includes("Records screened"));
});

test("hostile titles stay text, in every theme and width", async (t) => {
  const bench = await Bench.start(t, "hostile", FAST);
  const { next } = await state(bench);
  const page = await bench.open(`/tasks/${bench.task}/screening`, { viewport: { width: 380, height: 800 } });
  const seen = [];
  for (let i = 0; i < 6 && i < next.length; i++) {
    seen.push(await here(page).getByRole("heading", { level: 2 }).innerText());
    assert.ok((await overhang(page)) <= 0);
    assert.equal(await page.locator("#queue :is(script, img, iframe)").count(), 0);
    await page.keyboard.press("j");
  }
  const spaced = (text) => text.replaceAll(/\s+/g, " ");
  const found = TITLES.filter((title) => next.some((document) => document.title === title));
  assert.ok(found.some((title) => seen.map(spaced).includes(spaced(title))), `${seen.join("\n")}`);
  const first = await shown(page);
  await page.locator("#why summary").click();
  await page.getByLabel("Another reason").fill(`<img src=x onerror=lyraHostileRan("reason")>`);
  await page.keyboard.press("Enter");
  await until("stored as it was written", async () => (await decided(bench, first))?.reason?.startsWith("<img src=x"));
  await page.locator(`#decided-${first}`).getByText("<img src=x").first().waitFor();
  assert.equal(await page.locator("main img").count(), 0);
});

test("the pages of screening obey the accessibility rules and are whole without JavaScript", async (t) => {
  const bench = await Bench.start(t);
  const { next } = await state(bench);
  for (const [at, verdict] of ["include", "exclude", "include", "undecided"].entries()) {
    await put(bench, next[at].page_id, { verdict });
  }
  const wrong = [];
  for (const colorScheme of ["light", "dark"]) {
    const page = await bench.open("/", { colorScheme });
    for (const name of ["screening", "prisma"]) {
      for (const width of [380, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(`/tasks/${bench.task}/${name}`);
        await shot(page, `${name}-${colorScheme}-${width}`);
        await unfold(page);
        wrong.push(...(await violations(page)).map((violation) => ({ name, width, colorScheme, ...violation })));
        if ((await overhang(page)) > 0) wrong.push(`${name} is ${await overhang(page)} pixels too wide at ${width}`);
      }
    }
  }
  assert.deepEqual(wrong, []);
  const page = await bench.open(`/tasks/${bench.task}/screening`, { javaScriptEnabled: false });
  const first = await shown(page);
  await page.locator("a[data-step='1']").click();
  await page.waitForURL(/skip=1/);
  assert.notEqual(await shown(page), first);
  assert.ok((await here(page).locator("h2").innerText()).length > 3);
});
