// @ts-check
// Arrow keys, Home, and End move between the links of a table with `data-grid`.

/** The steps of a key: rows, then columns; `Infinity` goes to the last. */
const STEPS = /** @type {Record<string, [number, number]>} */ ({
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  Home: [0, -Infinity],
  End: [0, Infinity],
});

/**
 * The link of a cell.
 * @param {HTMLTableElement} table
 * @param {number} row
 * @param {number} column
 */
function link(table, row, column) {
  return table.rows[row]?.cells[column]?.querySelector("a") ?? null;
}

/**
 * The nearest link in a direction, past cells without one.
 * @param {HTMLTableElement} table
 * @param {HTMLTableCellElement} from
 * @param {[number, number]} step
 */
function next(table, from, [down, right]) {
  const row = /** @type {HTMLTableRowElement} */ (from.parentElement).rowIndex;
  const last = table.rows[row].cells.length - 1;
  if (!Number.isFinite(right)) {
    const columns = Array.from({ length: last + 1 }, (_, at) => (right < 0 ? at : last - at));
    return columns.map((column) => link(table, row, column)).find(Boolean) ?? null;
  }
  for (let at = 1; at <= table.rows.length + last; at++) {
    const found = link(table, row + at * down, from.cellIndex + at * right);
    if (found) return found;
  }
  return null;
}

export function watchGrids() {
  document.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const cell = event.target instanceof Element ? event.target.closest("table[data-grid] :is(td, th)") : null;
    const table = cell?.closest("table");
    if (!(cell instanceof HTMLTableCellElement) || !table) return;
    const found = next(table, cell, step);
    if (!found) return;
    event.preventDefault();
    found.focus({ preventScroll: true });
    found.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
}
