// @ts-check
// What a plot draws of rows: pairs of numbers, means by category, and round ends of axes.

/** @typedef {{name: string, mean: number, count: number}} Category */

/** Larger numbers leave no room for their own sums and differences. */
const LARGEST = 1e300;
/** Smallest difference that an axis shows, as a share of its numbers. */
const FINEST = 1e-9;

/**
 * @param {import("./rows.js").Cell} cell
 * @returns {cell is number}
 */
function drawable(cell) {
  return typeof cell === "number" && Math.abs(cell) < LARGEST;
}

/**
 * Rows that have a number in both columns; nothing when the first column holds other values too.
 * @param {import("./rows.js").Cell[][]} rows
 * @param {number} x
 * @param {number} y
 * @returns {[number, number][]}
 */
export function pairs(rows, x, y) {
  if (rows.some((row) => typeof row[x] === "string")) return [];
  return rows.flatMap((row) => {
    const [a, b] = [row[x], row[y]];
    return drawable(a) && drawable(b) ? [/** @type {[number, number]} */ ([a, b])] : [];
  });
}

/**
 * The mean of a column by the values of another one, in the order in which these come.
 * @param {import("./rows.js").Cell[][]} rows
 * @param {number} x
 * @param {number} y
 * @returns {Category[]}
 */
export function categories(rows, x, y) {
  /** @type {Map<string, {sum: number, count: number}>} */
  const found = new Map();
  for (const row of rows) {
    const value = row[y];
    if (!drawable(value)) continue;
    const name = row[x] === null ? "NULL" : String(row[x]);
    const { sum, count } = found.get(name) ?? { sum: 0, count: 0 };
    found.set(name, { sum: sum + value, count: count + 1 });
  }
  return Array.from(found, ([name, { sum, count }]) => ({ name, mean: sum / count, count }));
}

/**
 * Round numbers, at equal distances, that enclose all values; two at least.
 * @param {number[]} values
 * @returns {number[]}
 */
export function ticks(values) {
  let [low, high] = [Math.min(...values), Math.max(...values)];
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (size < 1 / LARGEST) [low, high] = [0, 1];
  else if (high - low < FINEST * size) [low, high] = [low - size / 2, high + size / 2];
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.floor(low / step);
  const last = Math.ceil(high / step);
  return Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}
