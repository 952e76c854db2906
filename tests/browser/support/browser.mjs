// Chromium, and pages that are watched: a script that a policy blocks, an error of a module, or a request to elsewhere
// fails the test that opened the page.
import { after } from "node:test";
import { ALARM } from "./hostile.mjs";
import { CHROMIUM, installed } from "./places.mjs";
import { PATIENCE } from "./until.mjs";

const { chromium } = installed("playwright-core");

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

let running;

/** The browser of this process. */
export function browser() {
  running ??= chromium.launch({ executablePath: CHROMIUM, args: FLAGS, timeout: PATIENCE });
  return running;
}

after(async () => {
  if (running) await (await running).close();
});

/**
 * A window of its own, with its own cookies.
 * @param {string} origin the only one that it may ask
 * @param {string[]} wrong what it does that no page may do
 * @param {object} [how] options of a context, and `tolerate`: patterns of messages that the test expects
 */
export async function window(origin, wrong, { tolerate = [], ...how } = {}) {
  const context = await (await browser()).newContext({
    baseURL: origin,
    viewport: { width: 1280, height: 900 },
    locale: "en-US",
    colorScheme: "light",
    reducedMotion: "reduce",
    ...how,
  });
  context.setDefaultTimeout(PATIENCE);
  context.setDefaultNavigationTimeout(PATIENCE);
  await watch(context, origin, tolerate, wrong, how.javaScriptEnabled !== false);
  return context.newPage();
}

/** Notes in `wrong` what no page of the context may do. */
export async function watch(context, origin, tolerate, wrong, scripts) {
  const note = (what) => {
    if (!tolerate.some((pattern) => pattern.test(what))) wrong.push(what);
  };
  if (scripts) {
    await context.exposeBinding("lyraViolation", (_, what) => note(`blocked by the policy: ${what}`));
    await context.exposeBinding(ALARM, (_, what) => note(`a document's script ran: ${what}`));
    await context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        globalThis.lyraViolation(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`);
      });
    });
  }
  context.on("console", (message) => {
    if (message.type() === "error") note(`console: ${message.text()} (${message.location().url})`);
  });
  context.on("weberror", (error) => note(`error: ${error.error().stack ?? error.error()}`));
  context.on("dialog", (dialog) => {
    note(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on("request", (request) => {
    const address = request.url();
    if (!address.startsWith(`${origin}/`) && !address.startsWith("data:")) note(`request to ${address}`);
  });
}
