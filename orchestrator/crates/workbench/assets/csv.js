// @ts-check
// Rows as a file for a spreadsheet.

/**
 * Rows as CSV (RFC 4180) that starts with a byte order mark, which spreadsheets need to read it as UTF-8.
 * @param {import("./rows.js").Rows} rows
 */
export function csv({ columns, rows }) {
  const lines = [columns, ...rows].map((cells) => cells.map(field).join(","));
  return `\ufeff${lines.join("\r\n")}\r\n`;
}

/**
 * A field. Text that a spreadsheet would take for a formula gets an apostrophe before it.
 * @param {import("./rows.js").Cell} cell
 */
function field(cell) {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Saves a file, or a text as one.
 * @param {string} name
 * @param {string | Blob} content
 */
export function download(name, content) {
  const file = content instanceof Blob ? content : new Blob([content], { type: "text/csv;charset=utf-8" });
  const address = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
