// Waiting for conditions. No test sleeps for a fixed time.
import assert from "node:assert/strict";

/** The longest that anything may take, in milliseconds: far more than on an idle machine. */
export const PATIENCE = 60_000;

/**
 * Asks again until the answer is truthy, and returns it. An exception counts as "not yet"; the last one is reported.
 * @template T
 * @param {string} what what is waited for, for the message
 * @param {() => T | Promise<T>} ask
 * @param {{ every?: number, within?: number }} [times] milliseconds between questions, and in all
 * @returns {Promise<NonNullable<T>>}
 */
export async function until(what, ask, { every = 100, within = PATIENCE } = {}) {
  const end = performance.now() + within;
  let last;
  for (;;) {
    try {
      last = await ask();
      if (last) return last;
    } catch (error) {
      last = error;
    }
    if (performance.now() > end) assert.fail(`${what}: not within ${within / 1000} s; last: ${described(last)}`);
    await new Promise((done) => setTimeout(done, every));
  }
}

function described(last) {
  if (last instanceof Error) return last.message;
  return typeof last === "string" ? last : JSON.stringify(last);
}
