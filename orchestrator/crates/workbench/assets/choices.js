// @ts-check
// Language and theme; forms that narrow a page as they are changed; lists that grow as they are scrolled.
import { load, refresh } from "./live.js";
import { explain } from "./notice.js";

const YEAR = 31536000;
/** Letters typed fast are asked for at once; a request that is out of date is aborted. */
const TYPING_MS = 30;
let asked = new AbortController();

export function watchSettings() {
  for (const select of document.querySelectorAll("select[data-setting]")) {
    select.addEventListener("change", () => {
      if (!(select instanceof HTMLSelectElement)) return;
      document.cookie = `${select.dataset.setting}=${select.value}; path=/; max-age=${YEAR}; samesite=strict`;
      location.reload();
    });
  }
}

/** A form with `data-narrows` shows its result at once; without JavaScript its button does. */
export function watchNarrowing() {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @param {Event} event */
  const narrow = (event) => {
    const element = event.target instanceof Element ? event.target : null;
    const owner = element instanceof HTMLInputElement || element instanceof HTMLSelectElement ? element.form : null;
    const form = element instanceof HTMLFormElement ? element : owner;
    if (!form?.hasAttribute("data-narrows")) return;
    if (event.type === "submit") event.preventDefault();
    clearTimeout(timer);
    timer = setTimeout(() => show(form), event.type === "input" ? TYPING_MS : 0);
  };
  for (const kind of ["input", "change", "submit"]) document.addEventListener(kind, narrow);
}

/** @param {HTMLFormElement} form */
async function show(form) {
  asked.abort();
  asked = new AbortController();
  const { signal } = asked;
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (typeof value === "string" && value !== "") query.append(name, value);
  }
  const address = `${location.pathname}${query.size ? `?${query}` : ""}`;
  for (const list of document.querySelectorAll("[data-extended]")) list.removeAttribute("data-extended");
  history.replaceState(null, "", address);
  await refresh(signal).catch((error) => {
    if (!signal.aborted) explain(error);
  });
}

/** Loads the next page of a list when its end comes into view. */
export function watchLists() {
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting && entry.target instanceof HTMLAnchorElement) more(entry.target);
    }
  }, { rootMargin: "600px" });
  const observe = () => {
    for (const link of document.querySelectorAll("a[data-more]")) seen.observe(link);
  };
  document.addEventListener("refreshed", observe);
  document.addEventListener("extended", observe);
  observe();
}

/** @param {HTMLAnchorElement} link */
async function more(link) {
  if (link.getAttribute("aria-busy") === "true") return;
  link.setAttribute("aria-busy", "true");
  try {
    const page = await load(link.href);
    const list = document.querySelector("[data-list]");
    const next = page.querySelector("a[data-more]");
    list?.append(...Array.from(page.querySelector("[data-list]")?.children ?? [], (item) => document.adoptNode(item)));
    list?.setAttribute("data-extended", "");
    if (next) link.replaceWith(document.adoptNode(next));
    else link.remove();
    document.dispatchEvent(new CustomEvent("extended"));
  } catch (error) {
    link.removeAttribute("aria-busy");
    explain(error);
  }
}
