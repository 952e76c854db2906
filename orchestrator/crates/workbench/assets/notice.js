// @ts-check
// Short notices at the bottom of the page, read out by screen readers.
import { Problem, reasonOf, text } from "./api.js";

const SHOWN_MS = 8000;

/**
 * Shows a notice, with a button for what can be done about it.
 * @param {string} message
 * @param {{kind?: "done" | "error" | "offline", action?: {label: string, run: () => void}}} [options]
 * @returns {() => void} Removes it.
 */
export function notify(message, { kind = "done", action } = {}) {
  const notice = document.createElement("div");
  notice.className = `notice ${kind}`;
  const words = document.createElement("p");
  words.textContent = message;
  notice.append(words);
  const remove = () => notice.remove();
  if (action) notice.append(button(action.label, () => (remove(), action.run())));
  notice.append(button(text("close"), remove, "quiet"));
  document.getElementById("notices")?.append(notice);
  if (kind === "done") setTimeout(remove, SHOWN_MS);
  return remove;
}

/**
 * @param {string} label
 * @param {() => void} run
 * @param {string} [kind]
 */
function button(label, run, kind = "button") {
  const made = document.createElement("button");
  made.type = "button";
  made.className = kind;
  made.textContent = label;
  made.addEventListener("click", run);
  return made;
}

/**
 * Shows why something failed.
 * @param {unknown} error
 */
export function explain(error) {
  const offline = error instanceof Problem && error.status === 0;
  notify(reasonOf(error), { kind: offline ? "offline" : "error" });
}
