// @ts-check
// Keeps a page true: loads it again when something changed, and replaces its live parts.
import { text } from "./api.js";
import { notify } from "./notice.js";

const AT_MOST_EVERY_MS = 500;
let waiting = false;
let last = 0;

/**
 * Loads an address as a document. This is no way for markup into the page: its scripts do not run, and the parts that
 * are taken over come from this server.
 * @param {string} address
 * @param {AbortSignal} [signal]
 * @returns {Promise<Document>}
 */
export function load(address, signal) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", address);
    request.responseType = "document";
    request.onload = () => (request.response && request.status < 400 ? resolve(request.response) : reject(new Error(text("failed"))));
    request.onerror = () => reject(new Error(text("offline")));
    request.onabort = () => reject(signal?.reason);
    signal?.addEventListener("abort", () => request.abort(), { once: true });
    request.send();
  });
}

/**
 * Loads the page's address again and replaces every live part. What a person opened, marked, or focused stays.
 * @param {AbortSignal} [signal]
 */
export async function refresh(signal) {
  const address = location.pathname + location.search;
  const fresh = await load(address, signal);
  // Meanwhile a person may have narrowed the page, whose parts are those of another address.
  if (address !== location.pathname + location.search) return;
  for (const part of document.querySelectorAll("[data-live]")) {
    const other = fresh.getElementById(part.id);
    if (other && !part.isEqualNode(other)) replace(part, document.adoptNode(other));
  }
  document.title = fresh.title;
  document.dispatchEvent(new CustomEvent("refreshed"));
}

/**
 * @param {Element} part
 * @param {Element} fresh
 */
function replace(part, fresh) {
  for (const details of part.querySelectorAll("details[open][id]")) {
    fresh.querySelector(`#${CSS.escape(details.id)}`)?.setAttribute("open", "");
  }
  const focused = part.contains(document.activeElement) ? document.activeElement?.id : undefined;
  const current = part.querySelector("[data-current]")?.id;
  for (const box of part.querySelectorAll("input[data-selects]:checked")) {
    const other = fresh.querySelector(`#${CSS.escape(box.id)}`);
    if (other instanceof HTMLInputElement) other.checked = true;
  }
  keepLoaded(part, fresh);
  part.replaceWith(fresh);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  if (current) document.getElementById(current)?.setAttribute("data-current", "");
}

/**
 * A list whose further pages were loaded keeps them.
 * @param {Element} part
 * @param {Element} fresh
 */
function keepLoaded(part, fresh) {
  const [list, other] = [part, fresh].map((side) => (side.matches("[data-list]") ? side : side.querySelector("[data-list]")));
  if (!list?.hasAttribute("data-extended") || !other) return;
  const known = new Set(Array.from(other.children, (item) => item.id));
  other.append(...Array.from(list.children).filter((item) => !known.has(item.id)));
  other.setAttribute("data-extended", "");
  const [more, otherMore] = [part, fresh].map((side) => side.querySelector("[data-more]"));
  if (more && otherMore) otherMore.replaceWith(more);
  else otherMore?.remove();
}

/** Loads the page again soon; many calls at once load it once. */
export function refreshSoon() {
  if (waiting) return;
  waiting = true;
  const wait = Math.max(0, last + AT_MOST_EVERY_MS - Date.now());
  setTimeout(async () => {
    waiting = false;
    last = Date.now();
    // The next event, or the connection's return, tries again.
    await refresh().catch(() => {});
  }, wait);
}

/** Removes what was said while the server did not answer. */
function forgetOffline() {
  for (const said of document.querySelectorAll(".notice.offline")) said.remove();
}

/** Listens for events since the page was rendered, if it has live parts. */
export function listen() {
  if (!document.querySelector("[data-live]")) return;
  const task = document.querySelector("[data-events-of]")?.getAttribute("data-events-of");
  const about = new URLSearchParams({ after: document.body.dataset.event ?? "" });
  if (task) about.set("task_id", task);
  const source = new EventSource(`/api/v1/events?${about}`);
  for (const kind of ["task", "step", "claim", "import", "job", "stale", "reset"]) {
    source.addEventListener(kind, (event) => {
      const about = event.data ? JSON.parse(event.data) : undefined;
      document.dispatchEvent(new CustomEvent("happened", { detail: { kind, about } }));
      // What an import has read so far is on no page.
      if (kind !== "import" || about?.state !== "running") refreshSoon();
    });
  }
  let notice = false;
  source.addEventListener("error", () => {
    if (!notice) notify(text("offline"), { kind: "offline" });
    notice = true;
    // After some refusals a browser gives up.
    if (source.readyState === EventSource.CLOSED) setTimeout(() => (forgetOffline(), listen()), 5000);
  });
  source.addEventListener("open", () => {
    if (!notice) return;
    forgetOffline();
    notice = false;
    notify(text("online"));
    refreshSoon();
  });
  addEventListener("pagehide", () => source.close(), { once: true });
}
