// @ts-check
// The button that sends every source a small query, and the table of their answers.
import { call } from "./api.js";
import { refresh } from "./live.js";
import { explain } from "./notice.js";
import { filled, number } from "./say.js";

/** @typedef {{name: string, answers: boolean, milliseconds?: number | null, matches?: number | null, error?: string | null}} Answer */

export function watchSources() {
  for (const button of document.querySelectorAll("button[data-test-sources]")) {
    const place = button.closest("[data-tests]");
    if (place) button.addEventListener("click", () => void test(button, place));
  }
}

/**
 * @param {Element} button
 * @param {Element} place
 */
async function test(button, place) {
  const status = place.querySelector("[data-test-status]");
  if (!(status instanceof HTMLElement) || button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  status.textContent = status.dataset.asking ?? "";
  try {
    const { data } = await call("POST", "/api/v1/sources/test", {});
    /** @type {Answer[]} */
    const answers = data.sources;
    show(place, answers);
    const answered = answers.filter((answer) => answer.answers).length;
    status.textContent = filled(status.dataset.answered, { n: number(answered), all: number(answers.length) });
    await refresh();
  } catch (error) {
    status.textContent = "";
    explain(error);
  } finally {
    button.removeAttribute("aria-busy");
  }
}

/**
 * @param {Element} place
 * @param {Answer[]} answers
 */
function show(place, answers) {
  const table = place.querySelector("[data-test-answers]");
  const body = table?.querySelector("tbody");
  if (!(table instanceof HTMLElement) || !body) return;
  const { yes = "", no = "" } = body.dataset;
  body.replaceChildren(...answers.map((answer) => row(answer, yes, no)));
  table.hidden = false;
}

/**
 * @param {Answer} answer
 * @param {string} yes
 * @param {string} no
 */
function row(answer, yes, no) {
  const made = document.createElement("tr");
  const name = document.createElement("th");
  name.scope = "row";
  name.textContent = answer.name;
  const state = document.createElement("span");
  state.className = answer.answers ? "pill" : "pill bad";
  state.textContent = answer.answers ? yes : no;
  const said = document.createElement("td");
  said.append(state, answer.error ? ` ${answer.error}` : "");
  made.append(name, said, cell(answer.milliseconds), cell(answer.matches));
  return made;
}

/** @param {number | null | undefined} amount */
function cell(amount) {
  const made = document.createElement("td");
  made.className = "number";
  made.textContent = typeof amount === "number" ? number(amount) : "";
  return made;
}
