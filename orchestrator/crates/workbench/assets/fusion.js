// @ts-check
// Search lanes: queries are checked while one types, and the judgments of a review are sent together.
import { call, reasonOf } from "./api.js";
import { notify } from "./notice.js";
import { filled } from "./say.js";

const PAUSE_MS = 300;

/**
 * @typedef {{position: number, length: number, found: string, expected: string, suggestion?: string}} Fault
 */

/**
 * Marks where a query cannot be read, or shows how it was read.
 * @param {HTMLElement} lane
 * @param {string} query
 * @param {{reading?: string, notes?: string[], fault?: Fault}} checked
 */
function show(lane, query, { reading, notes, fault }) {
  const form = lane.closest("form");
  const [box, place, message, understood] = ["[data-fault]", "[data-place]", "[data-message]", "[data-reading-of]"].map(
    (selector) => /** @type {HTMLElement} */ (lane.querySelector(selector)),
  );
  const field = lane.querySelector("textarea[name=query]");
  box.hidden = !fault;
  understood.hidden = !reading;
  const noted = notes?.length ? ` ${filled(form?.dataset.notes, { notes: notes.join("; ") })}` : "";
  understood.textContent = reading ? filled(form?.dataset.reading, { query: reading }) + noted : "";
  if (!fault) {
    field?.removeAttribute("aria-invalid");
    box.removeAttribute("role");
    return;
  }
  const characters = Array.from(query);
  const start = fault.position - 1;
  const mark = document.createElement("mark");
  mark.textContent = fault.length ? characters.slice(start, start + fault.length).join("") : "▲";
  place.replaceChildren(characters.slice(0, start).join(""), mark, characters.slice(start + fault.length).join(""));
  const { position, found, expected, suggestion } = fault;
  const write = suggestion ? ` ${filled(form?.dataset.write, { form: suggestion })}` : "";
  message.textContent = filled(form?.dataset.found, { n: String(position), found, expected }) + write;
  field?.setAttribute("aria-invalid", "true");
  box.setAttribute("role", "alert");
}

/**
 * Checks a lane's query; a lane that compares meanings takes any text.
 * @param {HTMLElement} lane
 */
async function check(lane) {
  const field = /** @type {HTMLTextAreaElement} */ (lane.querySelector("textarea[name=query]"));
  const chosen = /** @type {HTMLSelectElement} */ (lane.querySelector("select[name=lane]")).selectedOptions[0];
  const query = field.value;
  if (chosen?.dataset.kind !== "fulltext" || !query.trim()) return show(lane, query, {});
  try {
    const { data } = await call("POST", "/api/v1/fusion/check", { query });
    // What was typed meanwhile is checked next.
    if (field.value === query) show(lane, query, data);
  } catch {
    // The search itself says what is wrong.
    show(lane, query, {});
  }
}

/** @param {HTMLFormElement} form */
function watchQueries(form) {
  /** @type {Map<HTMLElement, ReturnType<typeof setTimeout>>} */
  const waiting = new Map();
  const soon = (/** @type {Event} */ event) => {
    const lane = event.target instanceof Element ? event.target.closest("[data-lane]") : null;
    if (!(lane instanceof HTMLElement)) return;
    clearTimeout(waiting.get(lane));
    waiting.set(lane, setTimeout(() => check(lane), PAUSE_MS));
  };
  form.addEventListener("input", soon);
  form.addEventListener("change", soon);
  form.addEventListener("submit", (event) => {
    const wrong = form.querySelector("textarea[aria-invalid]");
    const more = event.submitter instanceof HTMLButtonElement && event.submitter.name === "more";
    if (!(wrong instanceof HTMLTextAreaElement) || more) return;
    event.preventDefault();
    wrong.focus();
  });
  for (const lane of form.querySelectorAll("[data-lane]")) {
    const invalid = lane.querySelector("textarea[aria-invalid]");
    if (lane instanceof HTMLElement && !invalid) check(lane);
  }
}

/** @param {HTMLFormElement} form */
function watchReview(form) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const representatives = [];
    for (const item of form.querySelectorAll("[data-judged]")) {
      const label = /** @type {HTMLInputElement | null} */ (item.querySelector("input[type=radio]:checked"))?.value;
      const reason = /** @type {HTMLInputElement} */ (item.querySelector("input[maxlength]")).value.trim();
      const id = item.getAttribute("data-judged");
      if (label) representatives.push({ doc_id: id, label, ...(reason ? { reason } : {}) });
    }
    if (!representatives.length) return void notify(form.dataset.none ?? "", { kind: "error" });
    try {
      await call("POST", form.dataset.review ?? "", { representatives });
      const { pathname, hash } = new URL(form.dataset.then ?? "", location.href);
      // The address may differ in its fragment alone, which would not load the page again.
      history.replaceState(null, "", pathname + hash);
      location.reload();
    } catch (error) {
      notify(reasonOf(error), { kind: "error" });
    }
  });
}

/** Buttons that put a proposed target profile into the field of their form. */
function watchProposals() {
  for (const button of document.querySelectorAll("[data-use-proposed]")) {
    if (!(button instanceof HTMLButtonElement)) continue;
    button.hidden = false;
    button.addEventListener("click", () => {
      const field = button.form?.elements.namedItem("profile");
      const proposed = button.closest("details")?.querySelector("[data-proposed]")?.textContent;
      if (!(field instanceof HTMLTextAreaElement) || !proposed) return;
      field.value = proposed;
      field.focus();
    });
  }
}

export function watchFusion() {
  watchProposals();
  for (const form of document.querySelectorAll("form[data-lanes]")) if (form instanceof HTMLFormElement) watchQueries(form);
  for (const form of document.querySelectorAll("form[data-review]")) if (form instanceof HTMLFormElement) watchReview(form);
}
