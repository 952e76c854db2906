// @ts-check
// Files that are dropped or chosen are imported into a corpus, one after the other.
import { call } from "./api.js";
import { refreshSoon } from "./live.js";
import { explain } from "./notice.js";

export function watchImports() {
  for (const form of document.querySelectorAll("form[data-imports]")) {
    if (!(form instanceof HTMLFormElement)) continue;
    const input = form.querySelector("input[type=file]");
    if (!(input instanceof HTMLInputElement)) continue;
    for (const kind of ["dragenter", "dragover"]) {
      form.addEventListener(kind, (event) => (event.preventDefault(), form.setAttribute("data-over", "")));
    }
    form.addEventListener("dragleave", () => form.removeAttribute("data-over"));
    form.addEventListener("drop", (event) => {
      event.preventDefault();
      form.removeAttribute("data-over");
      if (event.dataTransfer) send(form, Array.from(event.dataTransfer.files));
    });
    input.addEventListener("change", () => send(form, Array.from(input.files ?? [])));
    form.addEventListener("submit", (event) => (event.preventDefault(), send(form, Array.from(input.files ?? []))));
  }
}

/**
 * @param {HTMLFormElement} form
 * @param {File[]} files
 */
async function send(form, files) {
  const field = form.elements.namedItem("corpus");
  const corpus = field instanceof HTMLInputElement ? field.value.trim() : "";
  const shown = form.querySelector("[data-sent]");
  if (!form.reportValidity() || files.length === 0) return;
  form.setAttribute("aria-busy", "true");
  for (const [at, file] of files.entries()) {
    if (shown) shown.textContent = `${at + 1} / ${files.length}: ${file.name}`;
    try {
      await call("POST", `/api/v1/corpora/${encodeURIComponent(corpus)}/files?filename=${encodeURIComponent(file.name)}`, file);
    } catch (error) {
      explain(error);
      break;
    }
  }
  form.removeAttribute("aria-busy");
  if (shown) shown.textContent = "";
  form.reset();
  refreshSoon();
}
