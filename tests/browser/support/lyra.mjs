// The `lyra` program: its commands over a data folder, and its server.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LYRA, REPOSITORY } from "./places.mjs";
import { PATIENCE, until } from "./until.mjs";

/** What the caller's own configuration says does not count, and nothing outside is asked. */
function environment(folder, more = {}) {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("LYRA_") && name !== "RUST_LOG");
  return {
    ...Object.fromEntries(kept),
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, "config"),
    LYRA_DATA_DIR: folder,
    LYRA_MODELS_DIR: process.env.LYRA_MODELS_DIR ?? join(REPOSITORY, "models"),
    LYRA__SOURCES__DEFAULT: "corpora",
    ...more,
  };
}

/** A data folder. */
export class Store {
  /** @param {string} folder @param {Record<string, string>} [variables] settings of every command and server */
  constructor(folder, variables = {}) {
    this.folder = folder;
    this.variables = variables;
  }

  /** A temporary folder; a copy of `seed` if that is given. */
  static temporary(seed, variables) {
    const folder = mkdtempSync(join(tmpdir(), "lyra-browser-"));
    if (seed) cpSync(seed, folder, { recursive: true });
    return new Store(folder, variables);
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  spawned(args, stdio) {
    return spawn(LYRA, args, { cwd: this.folder, env: environment(this.folder, this.variables), stdio });
  }

  /** Runs a command to its end; fails if it does. Returns its stdout. */
  async run(...args) {
    const child = this.spawned(args, ["ignore", "pipe", "pipe"]);
    const [out, err] = [collected(child.stdout), collected(child.stderr)];
    const [code] = await once(child, "close");
    assert.equal(code, 0, `lyra ${args.join(" ")} ended with ${code}: ${err()}${out()}`);
    return out();
  }

  /** The JSON document that a command prints. */
  async json(...args) {
    return JSON.parse(await this.run(...args, "--json"));
  }

  /** A claim as it is stored, with its numbers and passages. */
  claim(id) {
    return this.json("claim", "show", id);
  }

  /** Rows of a prepared view. */
  view(name, task) {
    return this.json("view", "query", name, "--limit", "1000", ...(task ? ["--task", task] : []));
  }

  /** All tasks, newest first. */
  tasks() {
    return this.json("task", "list", "-n", "1000");
  }

  /** How many samples corrections left for calibration. */
  async samples() {
    const sources = await this.json("calibration", "stats");
    return sources.reduce((sum, source) => sum + source.samples, 0);
  }

  /** What happened to a claim, oldest first. */
  history(id) {
    return this.json("graph", "timeline", "--claim", id);
  }

  /** A new token of this scope. */
  async token(name, scope = "full") {
    return (await this.json("token", "create", name, "--scope", scope)).token;
  }
}

/** `lyra serve` over a store. */
export class Server {
  /** @param {Store} store */
  constructor(store) {
    this.store = store;
    this.port = 0;
    this.said = () => "";
    this.child = null;
  }

  /** Starts it on any free port, or again on the port it had. */
  async start() {
    assert.equal(this.child, null, "it runs already");
    this.child = this.store.spawned(["serve", "--port", String(this.port)], ["ignore", "ignore", "pipe"]);
    const child = this.child;
    const orphaned = () => child.kill("SIGKILL");
    process.once("exit", orphaned);
    child.once("exit", () => process.off("exit", orphaned));
    this.said = collected(child.stderr);
    const ended = () => child.exitCode !== null || child.signalCode !== null;
    const alive = await until("lyra serve answers", async () => {
      if (ended()) return "ended";
      const port = this.said().match(/MCP at http:\/\/[^/ ]*:(\d+)\/mcp/)?.[1];
      if (!port) return false;
      this.port = Number(port);
      return (await fetch(this.url("/health"))).ok;
    });
    assert.equal(alive, true, `lyra serve did not start: ${this.said()}`);
    return this;
  }

  url(path = "/") {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** Ends it as Ctrl-C does. */
  async stop() {
    await this.end("SIGINT");
  }

  /** Ends it without a chance to say goodbye. */
  async kill() {
    await this.end("SIGKILL");
  }

  async end(signal) {
    const child = this.child;
    this.child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    const late = setTimeout(() => child.kill("SIGKILL"), PATIENCE / 2);
    await ended;
    clearTimeout(late);
  }

  async restart() {
    await this.stop();
    await this.start();
  }

  /** An answer of the JSON API, which must succeed. */
  async api(method, path, body, headers = {}) {
    const response = await fetch(this.url(`/api/v1${path}`), {
      method,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path} answered ${response.status}: ${text}`);
    return text ? JSON.parse(text) : null;
  }
}

/** Collects a stream; returns what gives the text so far. */
function collected(stream) {
  const parts = [];
  stream.on("data", (part) => parts.push(part));
  return () => Buffer.concat(parts).toString("utf8");
}
