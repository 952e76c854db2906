// @ts-check
// A column of numbers against another one, or by category. Shapes are made one by one: no markup is parsed.
import { fillTable } from "./rows.js";
import { categories, pairs, ticks } from "./series.js";

const SVG = "http://www.w3.org/2000/svg";
/** Most categories that are drawn. */
const MOST = 40;

/**
 * Draws the columns that the person chose, when the plot is open.
 * @param {HTMLElement} block
 * @param {import("./rows.js").Rows} rows
 */
export function draw(block, rows) {
  const place = block.querySelector("[data-drawn]");
  const [x, y] = ["x", "y"].map((axis) => rows.columns.indexOf(chosen(block, axis)));
  if (!(place instanceof HTMLElement) || !block.querySelector("details[data-plots][open]")) return;
  const width = Math.max(280, Math.min(720, place.clientWidth));
  const texts = block.dataset;
  const named = (/** @type {string | undefined} */ text) =>
    (text ?? "").replace("{y}", () => rows.columns[y]).replace("{x}", () => rows.columns[x]);
  const points = x < 0 || y < 0 ? null : pairs(rows.rows, x, y);
  if (points?.length) {
    const title = named(texts.against);
    const columns = [rows.columns[x], rows.columns[y]];
    place.replaceChildren(scatter(points, columns, title, width), numbers(title, columns, points));
    return;
  }
  const all = x < 0 || y < 0 ? [] : categories(rows.rows, x, y);
  if (all.length === 0) {
    place.replaceChildren(paragraph(texts.nothing ?? ""));
    return;
  }
  const shown = all.slice(0, MOST);
  const title = named(all.some(({ count }) => count > 1) ? texts.mean : texts.by);
  const parts = [bars(shown, title, width)];
  const cut = (texts.first ?? "").replace("{n}", String(MOST)).replace("{all}", String(all.length));
  const columns = [rows.columns[x], rows.columns[y], texts.count ?? ""];
  const table = numbers(title, columns, shown.map(({ name, mean, count }) => [name, mean, count]));
  place.replaceChildren(...parts, ...(all.length > MOST ? [paragraph(cut)] : []), table);
}

/**
 * @param {HTMLElement} block
 * @param {string} axis
 */
function chosen(block, axis) {
  const select = block.querySelector(`select[data-plot=${axis}]`);
  return select instanceof HTMLSelectElement ? select.value : "";
}

/** @param {string} text */
function paragraph(text) {
  const made = document.createElement("p");
  made.className = "small quiet";
  made.textContent = text;
  return made;
}

/**
 * The drawn numbers, for who does not see the picture.
 * @param {string} title
 * @param {string[]} columns
 * @param {import("./rows.js").Cell[][]} rows
 */
function numbers(title, columns, rows) {
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  summary.className = "small";
  summary.textContent = title;
  const frame = document.createElement("div");
  const table = document.createElement("div");
  table.className = "table rows";
  table.tabIndex = 0;
  table.setAttribute("role", "group");
  table.setAttribute("aria-label", title);
  frame.append(table);
  // Columns may share a name, so cells are named by their place.
  fillTable(frame, title, columns.map((_, at) => String(at)), rows.map((row) => Object.fromEntries(row.entries())));
  for (const [at, head] of Array.from(table.querySelectorAll("th")).entries()) head.textContent = columns[at];
  details.append(summary, frame);
  return details;
}

/**
 * @param {[number, number][]} points
 * @param {string[]} columns Names of both axes.
 * @param {string} title
 * @param {number} width
 */
function scatter(points, columns, title, width) {
  const [left, right, top, base] = [64, width - 16, 28, 288];
  const [xs, ys] = [0, 1].map((axis) => ticks(points.map((point) => point[axis])));
  const svg = picture(title, width, base + 48);
  const x = scale(xs, left, right);
  const y = scale(ys, base, top);
  for (const tick of ys) {
    svg.append(shape("line", { class: "grid", x1: left, x2: right, y1: y(tick), y2: y(tick) }));
    svg.append(label(left - 8, y(tick) + 4, "end", short(tick)));
  }
  for (const tick of xs) {
    svg.append(shape("line", { class: "axis", x1: x(tick), x2: x(tick), y1: base, y2: base + 5 }));
    svg.append(label(x(tick), base + 20, "middle", short(tick)));
  }
  svg.append(shape("line", { class: "axis", x1: left, x2: right, y1: base, y2: base }));
  for (const point of points) {
    const dot = shape("circle", { class: "dot", cx: x(point[0]), cy: y(point[1]), r: 3.5 });
    dot.append(named(`${point[0]}, ${point[1]}`));
    svg.append(dot);
  }
  svg.append(label((left + right) / 2, base + 42, "middle", cut(columns[0], right - left)));
  svg.append(label(0, 14, "start", cut(columns[1], width)));
  return svg;
}

/**
 * @param {import("./series.js").Category[]} shown
 * @param {string} title
 * @param {number} width
 */
function bars(shown, title, width) {
  const [row, top] = [24, 8];
  const left = Math.round(Math.min(220, width * 0.36));
  const right = width - 72;
  const svg = picture(title, width, top + shown.length * row + 8);
  const all = ticks([0, ...shown.map(({ mean }) => mean)]);
  const x = scale(all, left, right);
  for (const [at, { name, mean }] of shown.entries()) {
    const y = top + at * row;
    const [from, to] = [Math.min(x(0), x(mean)), Math.max(x(0), x(mean))];
    const bar = shape("rect", { class: "bar", x: from, y: y + 4, width: Math.max(1, to - from), height: row - 8 });
    bar.append(named(`${name}: ${mean}`));
    svg.append(label(left - 8, y + row / 2 + 4, "end", cut(name, left - 8)), bar);
    svg.append(label(to + 6, y + row / 2 + 4, "start", short(mean)));
  }
  svg.append(shape("line", { class: "axis", x1: x(0), x2: x(0), y1: top, y2: top + shown.length * row }));
  return svg;
}

/**
 * @param {string} title
 * @param {number} width
 * @param {number} height
 */
function picture(title, width, height) {
  const svg = shape("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, width, height, role: "img" });
  svg.setAttribute("aria-label", title);
  svg.append(named(title));
  return svg;
}

/**
 * @param {string} kind
 * @param {Record<string, string | number>} attributes
 */
function shape(kind, attributes) {
  const made = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

/** @param {string} text */
function named(text) {
  const title = document.createElementNS(SVG, "title");
  title.textContent = text;
  return title;
}

/**
 * @param {number} x
 * @param {number} y
 * @param {"start" | "middle" | "end"} anchor
 * @param {string} text
 */
function label(x, y, anchor, text) {
  const made = shape("text", { x, y, "text-anchor": anchor });
  made.textContent = text;
  return made;
}

/**
 * Places values between the first and the last tick.
 * @param {number[]} ends
 * @param {number} from
 * @param {number} to
 */
function scale(ends, from, to) {
  const [low, high] = [ends[0], ends[ends.length - 1]];
  return (/** @type {number} */ value) => from + ((value - low) / (high - low)) * (to - from);
}

/** @param {number} value */
function short(value) {
  // A year is no quantity: no separators of thousands below 10,000.
  const useGrouping = Math.abs(value) >= 10_000;
  return new Intl.NumberFormat(document.documentElement.lang, { maximumSignificantDigits: 4, useGrouping }).format(value);
}

/**
 * The text, shortened to about a width in pixels.
 * @param {string} text
 * @param {number} width
 */
function cut(text, width) {
  const wide = (/** @type {string} */ c) => ((c.codePointAt(0) ?? 0) > 0x2e7f ? 12 : 7);
  let used = 0;
  const characters = Array.from(text.replace(/\s+/g, " "));
  const end = characters.findIndex((c) => (used += wide(c)) > width);
  return end < 0 ? characters.join("") : `${characters.slice(0, Math.max(1, end - 2)).join("")}…`;
}
