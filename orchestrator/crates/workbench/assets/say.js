// @ts-check
// Texts with values in them, and numbers as the page's language writes them.

/**
 * A text with each `{name}` replaced.
 * @param {string | undefined} text
 * @param {Record<string, string>} values
 */
export function filled(text, values) {
  return (text ?? "").replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/** @param {number} amount */
export function number(amount) {
  return new Intl.NumberFormat(document.documentElement.lang).format(amount);
}
