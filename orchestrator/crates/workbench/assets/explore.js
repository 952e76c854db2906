// @ts-check
// Explore: runs a person's statement, shows its rows, and saves or plots the rows of any result.
import { call, reasonOf } from "./api.js";
import { csv, download } from "./csv.js";
import { draw } from "./plot.js";
import { fillTable, rowsOf } from "./rows.js";

export function watchExplore() {
  const page = document.querySelector("[data-explore]");
  if (!page) return;
  for (const block of page.querySelectorAll("[data-result]")) {
    if (block instanceof HTMLElement) watchResult(block);
  }
  const form = page.querySelector("form[data-sql]");
  if (!(form instanceof HTMLFormElement)) return;
  form.addEventListener("submit", (event) => (event.preventDefault(), run(form)));
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.requestSubmit();
  });
}

/**
 * Sends the statement and shows its rows, or at the form why there are none.
 * @param {HTMLFormElement} form
 */
async function run(form) {
  const block = document.getElementById(form.dataset.result ?? "");
  if (!block || form.getAttribute("aria-busy") === "true") return;
  const fields = new FormData(form);
  form.setAttribute("aria-busy", "true");
  explainAt(form, undefined);
  block.hidden = false;
  say(block, block.dataset.running ?? "");
  try {
    const body = { sql: String(fields.get("sql")), limit: Number(fields.get("limit")) };
    const { data } = await call("POST", "/api/v1/sql", body);
    fillTable(block, block.dataset.caption ?? "", data.columns, data.rows);
    offerTools(block);
    say(block, told(block, data));
  } catch (error) {
    block.hidden = true;
    explainAt(form, error);
  } finally {
    form.removeAttribute("aria-busy");
  }
}

/**
 * Shows at the form why its statement was refused, and what would be right.
 * @param {HTMLFormElement} form
 * @param {unknown} error
 */
function explainAt(form, error) {
  const place = form.querySelector("[role=alert]");
  const field = form.querySelector("textarea");
  if (!(place instanceof HTMLElement) || !field) return;
  place.hidden = error === undefined;
  field.removeAttribute("aria-invalid");
  if (error === undefined) return;
  field.setAttribute("aria-invalid", "true");
  place.textContent = reasonOf(error);
  field.focus();
}

/**
 * How many rows came, and how long that took.
 * @param {HTMLElement} block
 * @param {{rows: unknown[], truncated: boolean, elapsed_ms?: number, hint?: string}} data
 */
function told(block, data) {
  const { dataset } = block;
  const n = data.rows.length;
  const whole = n === 0 ? dataset.noRows : n === 1 ? dataset.rowsOne : dataset.rowsOther;
  const count = (data.truncated ? dataset.rowsCut : whole)?.replace("{n}", String(n));
  const took = data.elapsed_ms === undefined ? "" : dataset.took?.replace("{ms}", String(data.elapsed_ms));
  return [count, took, data.hint].filter(Boolean).join(" ");
}

/**
 * @param {HTMLElement} block
 * @param {string} message
 */
function say(block, message) {
  const status = block.querySelector("[data-status]");
  if (status) status.textContent = message;
}

/** @param {HTMLElement} block */
function watchResult(block) {
  block.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button[data-csv]") : null;
    if (button instanceof HTMLElement) download(button.dataset.csv ?? "lyra.csv", csv(rowsOf(block)));
  });
  const tool = block.querySelector("details[data-plots]");
  // Opening a table within it is no reason to draw.
  tool?.addEventListener("toggle", (event) => event.target === tool && draw(block, rowsOf(block)));
  tool?.addEventListener("change", () => draw(block, rowsOf(block)));
  offerTools(block);
}

/**
 * Shows the tools when there are rows, and offers the columns that can be drawn.
 * @param {HTMLElement} block
 */
function offerTools(block) {
  const tools = block.querySelector("[data-tools]");
  if (!(tools instanceof HTMLElement)) return;
  const { columns, rows } = rowsOf(block);
  tools.hidden = rows.length === 0;
  const numeric = columns.filter((_, at) => rows.some((row) => typeof row[at] === "number"));
  offer(block, "y", numeric, numeric.at(-1));
  offer(block, "x", columns, columns.find((name) => name !== numeric.at(-1)));
  draw(block, { columns, rows });
}

/**
 * @param {HTMLElement} block
 * @param {"x" | "y"} axis
 * @param {string[]} names
 * @param {string | undefined} chosen
 */
function offer(block, axis, names, chosen) {
  const select = block.querySelector(`select[data-plot=${axis}]`);
  if (!(select instanceof HTMLSelectElement)) return;
  select.replaceChildren(...names.map((name) => new Option(name, name, name === chosen, name === chosen)));
}
