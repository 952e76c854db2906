// @ts-check
// Buttons and forms that call the API: `data-api="METHOD /path"`. A `{field}` in the path is filled from the form.
//
// data-body    JSON to send with a button
// data-then    where to go afterwards; `created` stands for the address of what was created
// data-undo    `METHOD /path` that takes it back, with data-undo-body as its JSON, or with data-undo-fields, the names of fields
//              that were sent
// data-said    what a notice says when it is done
// data-ask     a question to answer first; with data-reason, the answer is sent as that field
import { call, text } from "./api.js";
import { refresh } from "./live.js";
import { explain, notify } from "./notice.js";

/**
 * What takes a change back, and what follows. The path may still be on its way; without one there was no change.
 * @typedef {{method: string, path: string | Promise<string | undefined>, body?: unknown, after?: () => void}} Undo
 */

/** @type {Undo[]} */
const undoable = [];

/**
 * Calls what an element names.
 * @param {HTMLElement} element
 * @param {Record<string, unknown> | undefined} given
 */
async function act(element, given) {
  const [method, template] = (element.dataset.api ?? "").split(" ", 2);
  const [path, body] = addressed(template, given);
  if (element.getAttribute("aria-busy") === "true") return;
  element.setAttribute("aria-busy", "true");
  try {
    const { location: created } = await call(method, path, body);
    const then = element.dataset.then;
    if (then) {
      location.assign(then === "created" ? pageOf(created) : then);
      return;
    }
    if (element instanceof HTMLFormElement) element.reset();
    offerUndo(element, body);
    await refresh();
  } catch (error) {
    explain(error);
  } finally {
    element.removeAttribute("aria-busy");
  }
}

/**
 * A path with its `{field}`s filled, and the fields that are left to send.
 * @param {string} template
 * @param {Record<string, unknown> | undefined} fields
 * @returns {[string, Record<string, unknown> | undefined]}
 */
function addressed(template, fields) {
  const left = fields && { ...fields };
  const path = template.replace(/\{(\w+)\}/g, (whole, name) => {
    if (!left || !(name in left)) return whole;
    const value = encodeURIComponent(String(left[name]).trim());
    delete left[name];
    return value;
  });
  return [path, left];
}

/**
 * The page of what the API created.
 * @param {string | null} location
 */
function pageOf(location) {
  return location?.replace(/^.*\/api\/v1/, "") ?? "/";
}

/**
 * @param {HTMLElement} element
 * @param {Record<string, unknown> | undefined} sent
 */
function offerUndo(element, sent) {
  const said = element.dataset.said ?? text("saved");
  const [method, path] = (element.dataset.undo ?? "").split(" ", 2);
  if (!path) {
    notify(said);
    return;
  }
  const { undoBody, undoFields } = element.dataset;
  const again = undoFields ? Object.fromEntries(undoFields.split(" ").map((name) => [name, sent?.[name]])) : undefined;
  offer(said, { method, path, body: undoBody ? JSON.parse(undoBody) : again });
}

/**
 * Says what was done, and offers to take it back. Answers with what removes the notice, after which the change can still be
 * taken back, and with what withdraws the offer.
 * @param {string} said
 * @param {Undo} change
 */
export function offer(said, change) {
  undoable.push(change);
  const remove = notify(said, { action: { label: text("undo"), run: undo } });
  const withdraw = () => {
    remove();
    const at = undoable.indexOf(change);
    if (at >= 0) undoable.splice(at, 1);
  };
  return { remove, withdraw };
}

/** Takes the last change back. */
export async function undo() {
  const last = undoable.pop();
  if (!last) return;
  try {
    const path = await last.path;
    if (!path) return;
    await call(last.method, path, last.body);
    notify(text("undone"));
    last.after?.();
    await refresh();
  } catch (error) {
    explain(error);
  }
}

/**
 * The fields of a form as JSON: `data-as` says how (`number`, `lines`, `flag`, `list`, or `copy`: a list of the field that
 * `data-from` names); empty ones are left out.
 * @param {HTMLFormElement} form
 */
function fields(form) {
  /** @type {Record<string, unknown>} */
  const body = {};
  for (const element of form.elements) {
    if (!(element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement)) continue;
    const { name, value } = element;
    const off = element instanceof HTMLInputElement && ["checkbox", "radio"].includes(element.type) && !element.checked;
    if (!name || element.disabled) continue;
    const as = element.dataset.as;
    if (as === "flag") body[name] = !off;
    else if (as === "copy") body[name] = off ? body[name] : [new FormData(form).get(element.dataset.from ?? "")];
    else if (off || value.trim() === "") continue;
    else if (as === "number") body[name] = Number(value);
    else if (as === "lines") body[name] = value.split("\n").map((line) => line.trim()).filter(Boolean);
    else if (as === "list") body[name] = [.../** @type {string[]} */ (body[name] ?? []), value];
    else body[name] = value;
  }
  return body;
}

/**
 * Asks the element's question. Answers with what to send, or with nothing when the person declines.
 * @param {HTMLElement} element
 * @param {Record<string, unknown> | undefined} body
 */
function asked(element, body) {
  const { ask, reason } = element.dataset;
  if (!ask) return { body };
  if (!reason) return confirm(ask) ? { body } : undefined;
  const answer = prompt(ask);
  return answer?.trim() ? { body: { ...body, [reason]: answer.trim() } } : undefined;
}

export function watchActions() {
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button[data-api]") : null;
    if (!(button instanceof HTMLButtonElement)) return;
    const sent = asked(button, button.dataset.body ? JSON.parse(button.dataset.body) : undefined);
    if (sent) act(button, sent.body);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    // A button with an address of its own leads there.
    if (!(form instanceof HTMLFormElement) || !form.dataset.api || event.submitter?.hasAttribute("formaction")) return;
    event.preventDefault();
    const sent = asked(form, fields(form));
    if (sent) act(form, sent.body);
  });
}
