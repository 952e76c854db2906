// How pages look and read: accessibility rules, both themes, widths, zoom, languages, without JavaScript, by keyboard.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { violations } from "../support/axe.mjs";
import { Bench, shot } from "../support/bench.mjs";
import { cards, confidence, overhang, unfold } from "../support/pages.mjs";
import { REPOSITORY } from "../support/places.mjs";

const WORDS = join(REPOSITORY, "orchestrator/crates/workbench/words");
/** A page that reports an error is one of those that are looked at. */
const MISSING = /status of 404/;

async function show(page, address) {
  const status = (await page.goto(address)).status();
  assert.equal(status, address.endsWith("/claim_0") ? 404 : 200, address);
}

for (const colorScheme of ["light", "dark"]) {
  test(`every page obeys the accessibility rules and fits its window (${colorScheme})`, async (t) => {
    const bench = await Bench.start(t, "used");
    const page = await bench.open("/", { colorScheme, tolerate: [MISSING] });
    const wrong = [];
    const look = async (what) => {
      wrong.push(...(await violations(page)).map((violation) => ({ what, ...violation })));
      if ((await overhang(page)) > 0) wrong.push(`${what} is ${await overhang(page)} pixels too wide`);
    };
    for (const [name, address] of Object.entries(await bench.addresses())) {
      for (const width of [380, 1280, 1920]) {
        await page.setViewportSize({ width, height: 900 });
        await show(page, address);
        await shot(page, `${name}-${colorScheme}-${width}`);
        if (width === 1920) continue;
        await look(`${name}, ${width} pixels`);
        await unfold(page);
        await look(`${name}, ${width} pixels, unfolded`);
      }
    }
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await look("the list of keys");
    assert.deepEqual(wrong, []);
  });
}

for (const width of [380, 1280]) {
  test(`nothing on a page moves while it loads (${width} pixels)`, async (t) => {
    const bench = await Bench.start(t, "used");
    const page = await bench.open("about:blank", {
      expected: null,
      viewport: { width, height: 900 },
      tolerate: [MISSING],
    });
    await page.addInitScript(() => {
      Object.assign(globalThis, { shifts: [] });
      new PerformanceObserver((list) => {
        for (const { value, sources } of list.getEntries()) {
          globalThis.shifts.push({ value, what: sources.map(({ node }) => node?.outerHTML?.slice(0, 80) ?? "text") });
        }
      }).observe({ type: "layout-shift", buffered: true });
    });
    const wrong = [];
    let [most, where] = [0, ""];
    for (const [name, address] of Object.entries(await bench.addresses())) {
      await show(page, new URL(address, bench.origin).href);
      // Modules have run, and what they change has been painted.
      await page.waitForFunction(() => performance.now() > performance.timing.loadEventEnd - performance.timeOrigin + 500);
      const shifts = await page.evaluate(() => globalThis.shifts);
      const sum = shifts.reduce((sum, shift) => sum + shift.value, 0);
      if (sum > most) [most, where] = [sum, name];
      if (sum > 0.1) wrong.push(`${name}: ${sum.toFixed(3)}, ${JSON.stringify(shifts)}`);
    }
    t.diagnostic(`largest layout shift: ${most.toFixed(3)}${where && ` (${where})`}`);
    assert.deepEqual(wrong, []);
  });
}

test("what is empty obeys the accessibility rules, too", async (t) => {
  const bench = await Bench.start(t);
  const page = await bench.open("/");
  for (const address of ["/calibration", "/sources", "/fusion", "/corpora/example?query=zzzz"]) {
    for (const width of [380, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await show(page, address);
      assert.deepEqual(await violations(page), [], address);
      assert.ok((await overhang(page)) <= 0, `${address} is too wide`);
    }
  }
});

test("at 400 % zoom nothing is cut off or scrolls sideways", async (t) => {
  const bench = await Bench.start(t);
  // 1,280 by 1,024 pixels at 400 %.
  const viewport = { width: 320, height: 256 };
  const page = await bench.open("/", { viewport, deviceScaleFactor: 4, tolerate: [MISSING] });
  const wrong = [];
  for (const [name, address] of Object.entries(await bench.addresses())) {
    await show(page, address);
    await unfold(page);
    if ((await overhang(page)) > 0) wrong.push(`${name} is ${await overhang(page)} pixels too wide`);
  }
  assert.deepEqual(wrong, []);
});

test("themes and languages are chosen on the page and kept", async (t) => {
  const bench = await Bench.start(t);
  const page = await bench.open("/");
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.getByRole("combobox", { name: "Theme", exact: true }).selectOption({ label: "Dark" });
  await page.locator("html[data-theme=dark]").waitFor();
  assert.notEqual(await background(), light);
  await page.getByRole("combobox", { name: "Language", exact: true }).selectOption({ label: "日本語" });
  await page.locator("html[lang=ja]").waitFor();
  await page.goto(`/tasks/${bench.task}`);
  assert.equal(await page.locator("html[lang=ja][data-theme=dark]").count(), 1);
});

/** Texts of the pages in a language, by key. */
function words(language) {
  const folder = join(WORDS, language);
  const files = readdirSync(folder).map((file) => [file, JSON.parse(readFileSync(join(folder, file), "utf8"))]);
  return Object.fromEntries(
    files.flatMap(([file, texts]) => Object.entries(texts).map(([key, text]) => [`${file}: ${key}`, text])),
  );
}

test("in Japanese no English of the pages is left", async (t) => {
  const bench = await Bench.start(t, "used");
  const page = await bench.open("/", { locale: "ja-JP", tolerate: [MISSING] });
  const [english, japanese] = [words("en"), words("ja")];
  // The seeded question is also the example of the field.
  const { query } = (await bench.store.tasks()).find((task) => task.task_id === bench.task);
  const wrong = [];
  assert.deepEqual(Object.keys(japanese), Object.keys(english));
  // Texts with places for numbers and names are compared as patterns, whose own words have to be half of a text.
  const left = Object.entries(english)
    .filter(([key, text]) => japanese[key] !== text && text.length > 2)
    .map(([key, text]) => {
      const pattern = text.split(/\{\w+\}/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
      return [key, new RegExp(`^${pattern.join(".+")}$`, "s"), text.replaceAll(/\{\w+\}/g, "").length];
    });
  for (const [name, address] of Object.entries(await bench.addresses())) {
    await show(page, address);
    assert.equal(await page.locator("html").getAttribute("lang"), "ja");
    const texts = await page.evaluate(() => {
      const found = [];
      const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (!node.parentElement?.closest("script, style")) found.push(node.textContent?.trim() ?? "");
      }
      for (const element of document.querySelectorAll("*")) {
        for (const label of ["aria-label", "placeholder", "alt", "data-said", "data-ask"]) {
          found.push(element.getAttribute(label) ?? "");
        }
      }
      return found.filter(Boolean);
    });
    for (const text of texts.filter((text) => text !== query)) {
      const [key] = left.find(([, pattern, own]) => own * 2 >= text.length && pattern.test(text)) ?? [];
      if (key) wrong.push(`${name} says “${text}” (${key})`);
    }
    assert.ok(texts.some((text) => /[\u3040-\u30ff]/.test(text)), `${name} is in Japanese`);
    await shot(page, `${name}-ja-1280`);
  }
  assert.deepEqual(wrong, []);
});

test("pages are whole without JavaScript", async (t) => {
  const bench = await Bench.start(t);
  const rows = await bench.claims();
  const page = await bench.open(`/tasks/${bench.task}`, { javaScriptEnabled: false, tolerate: [MISSING] });
  assert.equal((await cards(page)).length, rows.length);
  await page.getByRole("combobox", { name: "Evidence", exact: true }).selectOption({ label: "Contested" });
  await page.getByRole("button", { name: "Apply" }).click();
  await page.waitForURL(/side=contested/);
  const contested = rows.filter((row) => row.support_count > 0 && row.refute_count > 0);
  assert.deepEqual((await cards(page)).sort(), contested.map((row) => row.claim_id).sort());

  await page.goto(`/claims/${rows[0].claim_id}`);
  assert.equal(await confidence(page), rows[0].confidence.toFixed(2));
  await page.getByLabel("Leave out").first().check();
  await page.getByRole("button", { name: "Show the numbers without the marked passages" }).click();
  await page.waitForURL(/without=edge_/);
  assert.notEqual(await confidence(page), rows[0].confidence.toFixed(2));
  for (const [name, address] of Object.entries(await bench.addresses())) {
    await show(page, address);
    assert.ok((await page.locator("main").innerText()).length > 20, `${name} says something`);
  }
});

test("everything is reached with Tab, and what has the focus is visible", async (t) => {
  const bench = await Bench.start(t);
  const page = await bench.open("/", { tolerate: [MISSING] });
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Skip to content");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "content");

  for (const [name, address] of Object.entries(await bench.addresses())) {
    await show(page, address);
    const wanted = await page.evaluate(() => {
      const all = document.querySelectorAll("a[href], button, input, select, textarea, summary");
      const radios = new Set();
      return Array.from(all).filter((element) => {
        if (!element.checkVisibility() || element.matches(":disabled")) return false;
        if (!(element instanceof HTMLInputElement) || element.type !== "radio") return true;
        const first = !radios.has(element.name);
        radios.add(element.name);
        return first;
      }).length;
    });
    const invisible = [];
    let reached = 0;
    let around = false;
    for (let i = 0; i < wanted + 6; i++) {
      await page.keyboard.press("Tab");
      const focused = await page.evaluate(() => {
        const element = document.activeElement;
        if (!element || element === document.body) return null;
        const style = getComputedStyle(element);
        const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
        const fresh = !element.hasAttribute("data-reached");
        element.setAttribute("data-reached", "");
        return { fresh, seen: outlined || style.boxShadow !== "none", what: element.outerHTML.slice(0, 120) };
      });
      // A page may begin at a field in its middle; after its last element, it goes around once.
      if (!focused && !around) {
        around = true;
        continue;
      }
      if (!focused?.fresh) break;
      reached += 1;
      if (!focused.seen) invisible.push(focused.what);
    }
    assert.deepEqual(invisible, [], `${name}: what has the focus is not visible`);
    assert.ok(reached >= wanted, `${name}: Tab reached ${reached} of ${wanted}`);
  }
});

test("a question is asked with the keyboard alone, and the keys are listed", async (t) => {
  const bench = await Bench.start(t, "nap", { LYRA__ML__PROFILE: "fast" });
  const page = await bench.open("/");
  await page.keyboard.press("?");
  const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await sheet.waitFor();
  const listed = await sheet.locator("kbd").allInnerTexts();
  for (const key of "jksrnxu") assert.ok(listed.includes(key), `${key} is not among ${listed}`);
  await page.keyboard.press("Escape");
  await sheet.waitFor({ state: "hidden" });
  await page.getByRole("textbox", { name: "Question or claim" }).focus();
  await page.keyboard.type("Do phone bans raise exam scores? s r n");
  for (let i = 0; i < 5; i++) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate(() => document.activeElement?.textContent)) === "Ask") break;
  }
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/tasks\/task_/);
  const tasks = await bench.store.tasks();
  assert.equal(tasks[0].query, "Do phone bans raise exam scores? s r n");
});
