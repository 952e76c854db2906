// @ts-check
// Files and folders that are dropped or chosen are imported into a corpus, one file after the other. The server tells how
// an import goes by events, which live.js hands on.
import { Problem, call, reasonOf } from "./api.js";
import { chosen, dropped } from "./folders.js";
import { refreshSoon } from "./live.js";
import { explain } from "./notice.js";
import { filled, number } from "./say.js";

/** @typedef {{file: string, line: number, reason: string}} Rejection */
/**
 * @typedef {{corpus: string, state: "running" | "done" | "failed", bytes_read: number, bytes_total: number,
 *   indexed: number, unchanged: number, rejected: number, rejections?: Rejection[], error?: string}} ImportEvent
 */

/** How long the events may be silent before an import counts as ended: they may have been lost with the connection. */
const PATIENCE_MS = 120000;

export function watchImports() {
  for (const form of document.querySelectorAll("form[data-imports]")) {
    if (!(form instanceof HTMLFormElement)) continue;
    for (const kind of ["dragenter", "dragover"]) {
      form.addEventListener(kind, (event) => (event.preventDefault(), form.setAttribute("data-over", "")));
    }
    form.addEventListener("dragleave", () => form.removeAttribute("data-over"));
    form.addEventListener("drop", (event) => {
      event.preventDefault();
      form.removeAttribute("data-over");
      if (event.dataTransfer) dropped(event.dataTransfer).then((files) => send(form, files)).catch(explain);
    });
    for (const input of inputs(form)) input.addEventListener("change", () => send(form, chosen(input.files)));
    form.addEventListener("submit", (event) => event.preventDefault());
  }
}

/**
 * For files, and for a folder.
 * @param {HTMLFormElement} form
 * @returns {HTMLInputElement[]}
 */
function inputs(form) {
  return Array.from(form.querySelectorAll("input[type=file]"));
}

/**
 * @param {HTMLFormElement} form
 * @param {import("./folders.js").Named[]} files
 */
async function send(form, files) {
  const field = form.elements.namedItem("corpus");
  const corpus = field instanceof HTMLInputElement ? field.value.trim() : "";
  if (!form.reportValidity() || files.length === 0 || form.getAttribute("aria-busy") === "true") return;
  form.setAttribute("aria-busy", "true");
  listRejections(form, []);
  const sum = { indexed: 0, unchanged: 0, rejected: 0 };
  /** @type {Rejection[]} */
  const rejections = [];
  for (const [at, { name, file }] of files.entries()) {
    say(form, filled(form.dataset.reading, { at: number(at + 1), all: number(files.length), file: name }));
    const ending = endOf(corpus, (event) => showProgress(form, event));
    try {
      const path = `/api/v1/corpora/${encodeURIComponent(corpus)}/files?filename=${encodeURIComponent(name)}`;
      await call("POST", path, file);
      const end = await ending.event;
      if (end?.state === "failed") {
        sum.rejected += 1;
        rejections.push({ file: name, line: 0, reason: end.error ?? "" });
      }
      for (const key of /** @type {(keyof typeof sum)[]} */ (Object.keys(sum))) sum[key] += end?.[key] ?? 0;
      rejections.push(...(end?.rejections ?? []));
    } catch (error) {
      // A file that is refused does not keep the others out.
      if (error instanceof Problem && [400, 413].includes(error.status)) {
        sum.rejected += 1;
        rejections.push({ file: name, line: 0, reason: reasonOf(error) });
      } else {
        explain(error);
        break;
      }
    } finally {
      ending.stop();
    }
  }
  form.removeAttribute("aria-busy");
  showProgress(form);
  const { indexed, unchanged, rejected } = sum;
  const said = { indexed: number(indexed), unchanged: number(unchanged), rejected: number(rejected) };
  say(form, indexed + unchanged + rejected > 0 ? filled(form.dataset.done, said) : "");
  listRejections(form, rejections);
  for (const input of inputs(form)) input.value = "";
  refreshSoon();
}

/**
 * The event that ends the import into a corpus; nothing when it was missed.
 * @param {string} corpus
 * @param {(event: ImportEvent) => void} progress
 * @returns {{event: Promise<ImportEvent | undefined>, stop: () => void}}
 */
function endOf(corpus, progress) {
  const listening = new AbortController();
  const { signal } = listening;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let silence;
  /** @type {Promise<ImportEvent | undefined>} */
  const event = new Promise((resolve) => {
    const wait = () => {
      clearTimeout(silence);
      silence = setTimeout(() => resolve(undefined), PATIENCE_MS);
    };
    document.addEventListener("happened", (happened) => {
      const { kind, about } = /** @type {CustomEvent} */ (happened).detail;
      if (kind === "reset") resolve(undefined);
      if (kind !== "import" || about?.corpus !== corpus) return;
      wait();
      if (about.state === "running") progress(about);
      else resolve(about);
    }, { signal });
    wait();
  });
  return { event, stop: () => (clearTimeout(silence), listening.abort()) };
}

/**
 * @param {HTMLFormElement} form
 * @param {ImportEvent} [event]
 */
function showProgress(form, event) {
  const bar = form.querySelector("progress");
  if (!bar) return;
  bar.hidden = !event;
  if (event && event.bytes_total > 0) bar.value = event.bytes_read / event.bytes_total;
}

/**
 * @param {HTMLFormElement} form
 * @param {string} text
 */
function say(form, text) {
  const place = form.querySelector("[data-sent]");
  if (place) place.textContent = text;
}

/**
 * @param {HTMLFormElement} form
 * @param {Rejection[]} rejections
 */
function listRejections(form, rejections) {
  const place = form.querySelector("[data-rejections]");
  if (!(place instanceof HTMLElement)) return;
  place.hidden = rejections.length === 0;
  place.querySelector("ul")?.replaceChildren(...rejections.map(({ file, line, reason }) => {
    const item = document.createElement("li");
    const at = line > 0 ? filled(form.dataset.line, { file, n: number(line) }) : file;
    item.textContent = `${at}: ${reason}`;
    return item;
  }));
}
