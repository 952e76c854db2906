// What a flow starts from: a copy of a seeded data folder, a server over it, and windows on that.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { window } from "./browser.mjs";
import { Server, Store } from "./lyra.mjs";
import { SHOTS } from "./places.mjs";
import { seed } from "./seed.mjs";

/** A store with a running server. */
export class Bench {
  /**
   * @param {import("node:test").TestContext} t ends it, and fails if something was wrong on its pages
   * @param {string} name of the seed
   * @param {Record<string, string>} [variables] settings of the commands and the server
   */
  static async start(t, name = "nap", variables = {}) {
    const from = seed(name);
    const bench = new Bench();
    bench.windows = [];
    bench.wrong = [];
    bench.task = from.task;
    bench.corpus = from.corpus;
    bench.word = from.word;
    bench.store = Store.temporary(from.folder, variables);
    bench.server = new Server(bench.store);
    t.after(() => bench.end());
    await bench.server.start();
    return bench;
  }

  get origin() {
    return this.server.url("").replace(/\/$/, "");
  }

  /** Windows are closed first: a server that goes away under them is an error on their pages. */
  async end() {
    for (const page of this.windows) await page.context().close();
    await this.server.stop();
    this.store.remove();
    assert.deepEqual(this.wrong, [], "the pages of this test reported");
  }

  /** A window that shows an address of the workbench. */
  async open(path, { expected = 200, ...how } = {}) {
    const page = await window(this.origin, this.wrong, how);
    this.windows.push(page);
    const status = (await page.goto(path))?.status() ?? null;
    if (status !== expected) throw new Error(`${path} answered ${status}`);
    return page;
  }

  /** Claims of the task as stored, those with most passages on both sides first. */
  async claims() {
    const rows = await this.store.view("v_claim_evidence_summary", this.task);
    return rows.sort((a, b) => both(b) - both(a));
  }

  /** Addresses of the pages that show the task's data and of every section in the navigation, by name. */
  async addresses() {
    const [claim] = await this.claims();
    const stored = await this.store.claim(claim.claim_id);
    const evidence = stored.evidence[0];
    const home = await (await fetch(this.server.url("/"))).text();
    const corpus = `/corpora/${this.corpus}`;
    const { hits } = await this.server.api("GET", `${corpus}/search?query=${this.word}&method=bm25`);
    const document = `${corpus}/documents/${encodeURIComponent(hits[0].document.doc_id)}`;
    const sections = home.match(/<nav[^>]*>.*?<\/nav>/s)[0].matchAll(/href="\/(\w+)"/g);
    return {
      home: "/",
      ...Object.fromEntries(Array.from(sections, ([, name]) => [name, `/${name}`])),
      task: `/tasks/${this.task}`,
      report: `/tasks/${this.task}/report`,
      timeline: `/tasks/${this.task}/timeline`,
      matrix: `/tasks/${this.task}/matrix`,
      graph: `/tasks/${this.task}/graph`,
      screening: `/tasks/${this.task}/screening`,
      prisma: `/tasks/${this.task}/prisma`,
      claim: `/claims/${claim.claim_id}`,
      reader: `/pages/${evidence.page_id}?edge=${evidence.edge_id}`,
      corpus,
      found: `${corpus}?query=${this.word}`,
      document,
      login: "/login",
      missing: "/claims/claim_0",
    };
  }
}

/** How much the weaker side has. */
function both(row) {
  return Math.min(row.support_count, row.refute_count) * 1000 + row.support_count + row.refute_count;
}

/** Writes a picture of the whole page to target/browser/shots. */
export async function shot(page, name) {
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
}
