// @ts-check
// Everything from the keyboard: `?` lists the keys.
import { undo } from "./actions.js";

const BUTTONS = { s: "supports", r: "refutes", n: "neutral" };

/** Items that `j` and `k` move through: those that can be seen. */
function items() {
  const all = Array.from(document.querySelectorAll("[data-item]")).filter((item) => item instanceof HTMLElement);
  return all.filter((item) => item.checkVisibility());
}

function current() {
  return items().find((item) => item.hasAttribute("data-current"));
}

/** @param {number} step */
function move(step) {
  const all = items();
  const at = all.findIndex((item) => item.hasAttribute("data-current"));
  const next = all[Math.min(all.length - 1, Math.max(0, at + step))];
  if (!next) return;
  if (at >= 0) all[at].removeAttribute("data-current");
  next.setAttribute("data-current", "");
  next.tabIndex = -1;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

/** @param {string} selector */
function press(selector) {
  const element = current()?.querySelector(selector);
  if (element instanceof HTMLElement) element.click();
}

function openKeys() {
  const sheet = document.getElementById("keys");
  if (sheet instanceof HTMLDialogElement && !sheet.open) sheet.showModal();
}

/** @type {Record<string, () => void>} */
const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  Enter: () => press("a[data-opens]"),
  x: () => press("input[name=without], input[data-selects]"),
  u: () => void undo(),
  "/": () => document.querySelector(/** @type {"input"} */ ("[data-search], input[type=search]"))?.focus(),
  "?": openKeys,
};

/**
 * Whether a key is for what has the focus, or for the browser.
 * @param {KeyboardEvent} event
 */
export function isForAnother(event) {
  // A link of a picture is an element of SVG.
  const target = event.target instanceof Element ? event.target : document.body;
  const typing = target.matches("textarea, select, input:not([type=checkbox], [type=radio])");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return true;
  return event.key === "Enter" && target.matches("a, button, summary, input");
}

export function watchKeys() {
  document.addEventListener("keydown", (event) => {
    if (isForAnother(event)) return;
    const relation = BUTTONS[/** @type {keyof typeof BUTTONS} */ (event.key)];
    const run = relation ? () => press(`button[data-relation=${relation}]`) : KEYS[event.key];
    if (!run) return;
    event.preventDefault();
    run();
  });
  document.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("[data-open=keys]")) openKeys();
  });
  document.addEventListener("focusin", (event) => {
    const item = event.target instanceof Element ? event.target.closest("[data-item]") : null;
    if (!item || item.hasAttribute("data-current")) return;
    current()?.removeAttribute("data-current");
    item.setAttribute("data-current", "");
  });
}
