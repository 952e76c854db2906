// @ts-check
// Screening: one document at a time, decided from the keyboard. The next document is shown at once, while the decision is
// on its way; if it is refused, the document comes back.
import { offer } from "./actions.js";
import { Problem, call } from "./api.js";
import { isForAnother } from "./keys.js";
import { refresh, refreshSoon } from "./live.js";
import { explain } from "./notice.js";

/** Documents whose decision is on its way or stored, until the page's queue is without them. */
const passed = new Set();
/** The document that is shown. @type {HTMLElement | undefined} */
let here;
/** The document to show when the page was loaded again. @type {HTMLElement | undefined} */
let wanted;
/** Removes the notice of the decision before. */
let forget = () => {};

function queue() {
  return document.getElementById("queue");
}

/** The documents that can be shown, in order. */
function documents() {
  const all = Array.from(queue()?.querySelectorAll("[data-page]") ?? []).filter((item) => item instanceof HTMLElement);
  return all.filter((item) => !passed.has(item.dataset.page));
}

/**
 * Shows a document instead of the one before.
 * @param {HTMLElement | undefined} item
 * @param {boolean} [focus] Whether the reader is to be led there.
 */
function show(item, focus = false) {
  for (const other of queue()?.querySelectorAll("[data-here]") ?? []) other.removeAttribute("data-here");
  here = item;
  item?.setAttribute("data-here", "");
  if (!item || !focus) return;
  item.querySelector("h2")?.focus({ preventScroll: true });
  if (item.getBoundingClientRect().top < 0) item.scrollIntoView({ block: "start" });
}

/** @param {number} step */
function move(step) {
  const all = documents();
  const at = here ? all.indexOf(here) : -1;
  const next = all[Math.min(all.length - 1, Math.max(0, at + step))];
  if (next && next !== here) show(next, true);
}

function reasons() {
  const details = document.getElementById("why");
  return details instanceof HTMLDetailsElement ? details : undefined;
}

function askWhy() {
  const details = reasons();
  if (!details || !here) return;
  details.open = true;
  document.getElementById("why-0")?.focus({ preventScroll: true });
  details.scrollIntoView({ block: "nearest" });
}

/** @param {string} verdict @param {string} reason */
function said(verdict, reason) {
  const texts = document.getElementById("screening-texts")?.dataset ?? {};
  return (reason ? texts.reason?.replace("{reason}", reason) : texts[verdict]) ?? verdict;
}

/**
 * Decides about the document that is shown.
 * @param {string} verdict
 * @param {string} [reason]
 * @param {string} [shown] The reason in the reader's language.
 */
async function decide(verdict, reason = "", shown = reason) {
  const task = document.querySelector("[data-screening]")?.getAttribute("data-screening");
  const item = here;
  const page = item?.dataset.page;
  if (!task || !item || !page) return;
  const all = documents();
  const next = all[all.indexOf(item) + 1] ?? all[all.indexOf(item) - 1];
  passed.add(page);
  wanted = undefined;
  const details = reasons();
  if (details) details.open = false;
  show(next, true);
  // The address of a document that was to be judged again is done with.
  if (location.search.includes("page=")) history.replaceState(null, "", location.pathname);
  const path = `/api/v1/tasks/${task}/screening/${page}`;
  const stored = call("PUT", path, { verdict, reason: reason || undefined, replaces: item.dataset.decision });
  // A key that is faster than the answer takes this decision back, not the one before.
  const made = stored.then(({ data }) => `${path}/${data.decision.decision_id}`, () => undefined);
  forget();
  const offered = offer(said(verdict, shown), { method: "DELETE", path: made, after: () => back(item) });
  forget = offered.remove;
  try {
    await stored;
    if (documents().length > 1) refreshSoon();
    else await refresh();
  } catch (error) {
    offered.withdraw();
    explain(error);
    // Decided in another window: the page shows what counts now.
    const moved = error instanceof Problem && error.status === 409;
    if (moved) {
      await refresh().catch(() => {});
    } else {
      passed.delete(page);
      if (!item.isConnected) queue()?.prepend(item);
      show(item, true);
    }
  }
}

/** Shows a document again as soon as the page was loaded again. @param {HTMLElement} item */
function back(item) {
  passed.delete(item.dataset.page);
  wanted = item;
}

/** Keeps what is shown when the page was loaded again and its queue replaced. */
function settle() {
  const place = queue();
  if (!place) return;
  const fresh = Array.from(place.querySelectorAll("[data-page]")).filter((item) => item instanceof HTMLElement);
  const find = (/** @type {string | undefined} */ page) => fresh.find((item) => item.dataset.page === page);
  for (const page of passed) if (!find(page)) passed.delete(page);
  // Another window decided about a document that the list of decided ones has, and the queue has not.
  const isDecided = (/** @type {HTMLElement} */ item) =>
    !item.dataset.decision && !find(item.dataset.page) && !!document.getElementById(`decided-${item.dataset.page}`);
  const shown = wanted ?? (here && !passed.has(here.dataset.page) && !isDecided(here) ? here : undefined);
  if (!shown) {
    show(documents()[0]);
    return;
  }
  // What is shown may come later in the new order, behind what the page has of it.
  const same = find(shown.dataset.page);
  if (!same) place.prepend(shown);
  show(same ?? shown, wanted !== undefined);
  wanted = undefined;
}

/** @param {KeyboardEvent} event */
function press(event) {
  if (isForAnother(event)) return;
  const open = reasons()?.open;
  const keyed = open ? document.getElementById(`why-${event.key}`) : null;
  /** @type {Record<string, () => void>} */
  const keys = {
    i: () => void decide("include"),
    e: askWhy,
    d: () => void decide("undecided"),
    j: () => move(1),
    k: () => move(-1),
  };
  if (keyed && /^[1-9]$/.test(event.key)) keyed.click();
  else if (open && event.key === "Enter") void decide("exclude");
  else if (open && event.key === "Escape") close();
  else if (keys[event.key] && document.body.hasAttribute("data-may-write")) keys[event.key]();
  else if (event.key === "j" || event.key === "k") keys[event.key]();
  else return;
  event.preventDefault();
}

function close() {
  const details = reasons();
  if (details) details.open = false;
  here?.querySelector("h2")?.focus({ preventScroll: true });
}

export function watchScreening() {
  const place = queue();
  if (!place) return;
  here = documents().find((item) => item.hasAttribute("data-here"));
  document.addEventListener("keydown", press);
  document.addEventListener("refreshed", settle);
  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const button = target?.closest("button[data-verdict], button[data-reason], a[data-step]");
    if (!(button instanceof HTMLElement)) return;
    event.preventDefault();
    const { verdict, reason, step } = button.dataset;
    if (step) move(Number(step));
    else if (reason !== undefined) void decide("exclude", reason, reason && textOf(button));
    else if (verdict === "exclude") askWhy();
    else if (verdict) void decide(verdict);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.id !== "own-reason") return;
    event.preventDefault();
    const reason = String(new FormData(form).get("reason") ?? "").trim();
    form.reset();
    if (reason) void decide("exclude", reason);
  });
}

/** The words of a button, without its key. @param {HTMLElement} button */
function textOf(button) {
  return button.firstChild?.textContent?.trim() ?? "";
}
