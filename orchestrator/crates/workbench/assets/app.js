// The answer of a tool as an app inside an AI's client: shows it, and passes a person's corrections on.
//
// Speaks the protocol of MCP Apps (2026-01-26): JSON-RPC by messages with the window of the client. Loads nothing. The
// server renders the answer; this module puts it into the page.

/** @typedef {{ [name: string]: any }} Fields */

/** How long the client may take to answer, and the pause between two looks at a task that works, in milliseconds. */
const PATIENCE = 60_000;
const PAUSE = 5_000;

/** @type {Map<number, { resolve: (result: Fields) => void, reject: (error: Error) => void }>} */
const awaited = new Map();
let sent = 0;
/** What the client can do. @type {Fields} */
let can = {};
let task = "";
let language = "";

const content = /** @type {HTMLElement} */ (document.getElementById("content"));

/** @param {Fields} message */
function post(message) {
  window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
}

/**
 * Asks the client, or through it the server.
 * @param {string} method
 * @param {Fields} params
 * @returns {Promise<Fields>}
 */
function ask(method, params) {
  const id = ++sent;
  return new Promise((resolve, reject) => {
    awaited.set(id, { resolve, reject });
    setTimeout(() => {
      if (awaited.delete(id)) reject(new Error(`${method}: no answer`));
    }, PATIENCE);
    post({ id, method, params });
  });
}

/** @param {Fields} context */
function adapt(context) {
  if (context.theme) document.documentElement.dataset.theme = context.theme;
  if (context.locale) language = context.locale;
}

/** Reads the answer and puts it into the page. What a person has opened stays open. */
async function show() {
  const address = `ui://lyra/answers/${encodeURIComponent(task)}?language=${encodeURIComponent(language)}`;
  const { contents } = await ask("resources/read", { uri: address });
  const read = new DOMParser().parseFromString(contents[0].text, "text/html");
  const main = read.querySelector("main");
  if (!main) return;
  const opened = new Set([...content.querySelectorAll("details")].flatMap((part, at) => (part.open ? [at] : [])));
  const first = !content.dataset.shown;
  content.replaceChildren(...document.importNode(main, true).childNodes);
  Object.assign(content.dataset, main.dataset, { shown: task });
  document.documentElement.lang = read.documentElement.lang;
  if (!first) content.querySelectorAll("details").forEach((part, at) => { part.open = opened.has(at); });
  for (const time of content.querySelectorAll("time")) {
    const at = new Date(time.dateTime);
    if (!Number.isNaN(at.getTime())) time.textContent = at.toLocaleString(language || undefined);
  }
  if (main.dataset.working !== undefined) setTimeout(() => show().catch(fail), PAUSE);
}

/** @param {string} text */
function say(text) {
  const old = content.querySelector(".said");
  const line = old ?? content.insertBefore(document.createElement("p"), content.firstChild);
  line.className = "note said";
  line.setAttribute("role", "status");
  line.textContent = text;
}

/** @param {unknown} error */
function fail(error) {
  say(`${content.dataset.failed ?? ""} ${error instanceof Error ? error.message : String(error)}`.trim());
}

/**
 * Stores a person's judgment of a passage, and tells the model about it.
 * @param {HTMLButtonElement} button
 */
async function correct(button) {
  const { edge, relation } = button.dataset;
  button.setAttribute("aria-busy", "true");
  try {
    const wanted = { action: "edge_correct", edge_id: edge, correct_relation: relation };
    const result = await ask("tools/call", { name: "feedback", arguments: wanted });
    if (result.isError) throw new Error(result.content?.[0]?.text ?? "");
    await show();
    say(content.dataset.saved ?? "");
    const told = `A person set the relation of the passage ${edge} to "${relation}" in the app.`;
    // Not every client can be told.
    ask("ui/update-model-context", { content: [{ type: "text", text: told }] }).catch(() => {});
  } finally {
    button.removeAttribute("aria-busy");
  }
}

content.addEventListener("click", (event) => {
  const target = /** @type {Element} */ (event.target);
  const button = /** @type {HTMLButtonElement | null} */ (target.closest("button[data-edge]"));
  if (button) {
    correct(button).catch(fail);
    return;
  }
  const link = /** @type {HTMLAnchorElement | null} */ (target.closest("a[href]"));
  if (!link) return;
  event.preventDefault();
  if (can.openLinks && /^https?:/.test(link.href)) ask("ui/open-link", { url: link.href }).catch(fail);
});

/** What the client tells. @type {{ [method: string]: (params: Fields) => void }} */
const told = {
  "ui/notifications/tool-result": (result) => {
    const named = result.structuredContent?.task_id;
    if (typeof named !== "string") return;
    task = named;
    if (can.serverResources) show().catch(fail);
    else say(result.structuredContent.query ?? "");
  },
  "ui/notifications/tool-cancelled": ({ reason }) => say(reason ?? ""),
  "ui/notifications/host-context-changed": (context) => {
    const before = language;
    adapt(context);
    if (task && language !== before) show().catch(fail);
  },
};

window.addEventListener("message", (event) => {
  const message = event.data;
  if (event.source !== window.parent || message?.jsonrpc !== "2.0") return;
  if (message.method === undefined) {
    const waiting = awaited.get(message.id);
    awaited.delete(message.id);
    if (message.error) waiting?.reject(new Error(message.error.message));
    else waiting?.resolve(message.result);
  } else if (message.id === undefined) {
    told[message.method]?.(message.params ?? {});
  } else if (message.method === "ping" || message.method === "ui/resource-teardown") {
    post({ id: message.id, result: {} });
  } else {
    post({ id: message.id, error: { code: -32601, message: `unknown method ${message.method}` } });
  }
});

let height = 0;
new ResizeObserver(() => {
  const now = Math.ceil(document.documentElement.getBoundingClientRect().height);
  if (now === height) return;
  height = now;
  post({ method: "ui/notifications/size-changed", params: { width: window.innerWidth, height } });
}).observe(document.documentElement);

const offered = { availableDisplayModes: ["inline", "fullscreen"] };
ask("ui/initialize", {
  protocolVersion: "2026-01-26",
  appInfo: { name: "lyra", version: "1" },
  appCapabilities: offered,
}).then((host) => {
  can = host.hostCapabilities ?? {};
  adapt(host.hostContext ?? {});
  post({ method: "ui/notifications/initialized", params: {} });
}).catch(fail);
