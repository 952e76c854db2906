// @ts-check
// Rows as a table of text nodes, and back: whatever a cell holds stays text.

/** @typedef {string | number | null} Cell */
/** @typedef {{columns: string[], rows: Cell[][]}} Rows */

/**
 * Fills the table of a result, in the shape that the server gives a view's rows.
 * @param {HTMLElement} block
 * @param {string} caption
 * @param {string[]} columns
 * @param {Record<string, unknown>[]} rows
 */
export function fillTable(block, caption, columns, rows) {
  const table = document.createElement("table");
  table.createCaption().textContent = caption;
  const head = table.createTHead().insertRow();
  for (const name of columns) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = name;
    head.append(cell);
  }
  const body = table.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const name of columns) fillCell(line.insertCell(), row[name]);
  }
  block.querySelector(".table")?.replaceChildren(table);
}

/**
 * @param {HTMLTableCellElement} cell
 * @param {unknown} value
 */
function fillCell(cell, value) {
  if (value === null || value === undefined) {
    cell.className = "null";
    cell.textContent = "NULL";
  } else if (typeof value === "number") {
    cell.className = "number";
    cell.textContent = String(value);
  } else {
    const text = document.createElement("bdi");
    text.textContent = typeof value === "string" ? value : JSON.stringify(value);
    cell.append(text);
  }
}

/**
 * What the table of a result shows.
 * @param {HTMLElement} block
 * @returns {Rows}
 */
export function rowsOf(block) {
  const table = block.querySelector(".table table");
  if (!(table instanceof HTMLTableElement)) return { columns: [], rows: [] };
  const columns = Array.from(table.tHead?.rows[0]?.cells ?? [], (cell) => cell.textContent ?? "");
  const rows = Array.from(table.tBodies[0]?.rows ?? [], (row) => Array.from(row.cells, read));
  return { columns, rows };
}

/**
 * @param {HTMLTableCellElement} cell
 * @returns {Cell}
 */
function read(cell) {
  const text = cell.textContent ?? "";
  if (cell.classList.contains("null")) return null;
  return cell.classList.contains("number") ? Number(text) : text;
}
