// A client of the MCP server over HTTP, and a window of an AI's client that shows its apps.
import assert from "node:assert/strict";

const MIME = "text/html;profile=mcp-app";

/** What a client that renders apps can do. */
const APPS = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: [MIME] } } };

/** A session. */
export class Client {
  /** @param {import("./lyra.mjs").Server} server @param {object} [capabilities] by default, the client renders apps */
  static async connect(server, capabilities = APPS) {
    const client = new Client();
    client.address = server.url("/mcp");
    client.last = 0;
    const clientInfo = { name: "browser tests", version: "1" };
    await client.ask("initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo });
    await client.send({ method: "notifications/initialized" });
    return client;
  }

  async send(message) {
    const response = await fetch(this.address, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(this.session ? { "mcp-session-id": this.session } : {}),
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
    this.session ??= response.headers.get("mcp-session-id");
    const text = await response.text();
    assert.ok(response.ok, `${message.method} answered ${response.status}: ${text}`);
    return text;
  }

  /** The answer to a request: its result or its error. */
  async answer(method, params) {
    const id = ++this.last;
    const text = await this.send({ id, method, params });
    const lines = text.split("\n").map((line) => line.replace(/^data: ?/, ""));
    const answers = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
    const found = answers.find((message) => message.id === id);
    assert.ok(found, `${method}: ${text}`);
    return found.error ? { error: found.error } : { result: found.result };
  }

  async ask(method, params) {
    const { result, error } = await this.answer(method, params);
    assert.equal(error, undefined, `${method}: ${JSON.stringify(error)}`);
    return result;
  }
}

/**
 * Shows the app of a tool in a sandboxed frame of an empty page, as a client does: with the policy that the protocol
 * prescribes, the result of a call, and a way to the server.
 * @param {import("playwright-core").Page} page
 * @param {Client} client
 * @param {string} template the app's page
 * @param {object} result of the call
 * @param {object} context theme and language of the client
 */
export async function host(page, client, template, result, context) {
  const policy = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:";
  await page.exposeFunction("lyraServer", (method, params) => client.answer(method, params));
  await page.evaluate(
    ({ template, result, context, policy }) => {
      const frame = document.createElement("iframe");
      frame.title = "app";
      frame.setAttribute("sandbox", "allow-scripts");
      frame.style.cssText = "width: 100%; height: 20rem; border: 1px solid gray";
      const seen = { opened: [], told: [], methods: [] };
      Object.assign(globalThis, { seen });
      const post = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
      globalThis.tellApp = post;
      addEventListener("message", async ({ source, data }) => {
        if (source !== frame.contentWindow) return;
        seen.methods.push(data.method);
        const reply = (answer) => post({ id: data.id, ...answer });
        if (data.method === "ui/initialize") {
          const hostCapabilities = { openLinks: {}, serverTools: {}, serverResources: {} };
          reply({ result: { protocolVersion: "2026-01-26", hostInfo: {}, hostCapabilities, hostContext: context } });
        } else if (data.method === "ui/notifications/initialized") {
          post({ method: "ui/notifications/tool-input", params: { arguments: {} } });
          post({ method: "ui/notifications/tool-result", params: result });
        } else if (data.method === "ui/notifications/size-changed") {
          // No higher than a client shows it.
          frame.style.height = `${Math.min(data.params.height, 860)}px`;
        } else if (data.method === "ui/open-link") {
          seen.opened.push(data.params.url);
          reply({ result: {} });
        } else if (data.method === "ui/update-model-context") {
          seen.told.push(data.params);
          reply({ result: {} });
        } else if (data.id !== undefined && data.method) {
          reply(await globalThis.lyraServer(data.method, data.params));
        }
      });
      frame.srcdoc = template.replace("<head>", `<head><meta http-equiv="Content-Security-Policy" content="${policy}">`);
      document.body.replaceChildren(frame);
    },
    { template, result, context, policy },
  );
  return page.frameLocator("iframe");
}
