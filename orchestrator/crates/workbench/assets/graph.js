// @ts-check
// Graph: draws the view that the page shows on a canvas, to move, search, select, expand, and follow.
import { call, reasonOf } from "./api.js";
import { watchMoves } from "./graph-moves.js";
import { about, fill } from "./graph-panel.js";
import { Scene } from "./graph-scene.js";
import { Graph } from "./graph-view.js";
import { refresh } from "./live.js";
import { explain } from "./notice.js";
import { filled, number } from "./say.js";

/** Milliseconds between two loadings of one view, when its task is at work. */
const AT_MOST_EVERY_MS = 4000;

/** The graph of a page. */
export class View {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    this.texts = place.dataset;
    this.panel = /** @type {HTMLElement} */ (place.querySelector(".panel"));
    this.said = /** @type {HTMLElement} */ (place.querySelector("[data-said]"));
    this.canvas = document.createElement("canvas");
    const { canvas } = this;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-label", this.texts.name ?? "");
    const note = document.createElement("p");
    [note.id, note.className, note.textContent] = ["graph-keys", "keys-note small quiet", this.texts.keys ?? ""];
    canvas.setAttribute("aria-describedby", note.id);
    place.querySelector(".stage")?.append(canvas, note);
    this.scene = new Scene(canvas);
    /** @type {string | undefined} */
    this.source = undefined;
    this.loaded = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.later = undefined;
    new ResizeObserver(() => this.scene.resize()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.scene.resize());
  }

  get state() {
    return /** @type {HTMLElement} */ (document.getElementById("graph-source")).dataset;
  }

  /** Loads the view of the page's address, if it is another one or may have changed. */
  async load() {
    const source = this.state.source ?? "";
    const same = source === this.source;
    const wait = this.loaded + AT_MOST_EVERY_MS - Date.now();
    if (same && wait > 0) {
      // Later, once.
      this.later ??= setTimeout(() => ((this.later = undefined), void this.load()), wait);
      return;
    }
    [this.source, this.loaded] = [source, Date.now()];
    if (!same) this.place.setAttribute("aria-busy", "true");
    try {
      const { data } = await call("GET", source);
      if (this.source === source) this.show(data, same);
    } catch (error) {
      // The picture that the server drew stays.
      this.place.removeAttribute("data-drawn");
      this.place.setAttribute("data-plain", "");
      explain(error);
    } finally {
      this.place.removeAttribute("aria-busy");
    }
  }

  /**
   * @param {import("./graph-view.js").Data} data
   * @param {boolean} same whether it is the view that is shown, as it is now
   */
  show(data, same) {
    const selected = this.scene.graph.nodes[this.scene.selected]?.node_id;
    if (same && JSON.stringify(data.nodes) === JSON.stringify(this.scene.graph.nodes)) return;
    const drawn = data.nodes.length > 0;
    this.place.toggleAttribute("data-drawn", drawn);
    this.place.toggleAttribute("data-plain", !drawn);
    this.canvas.hidden = !drawn;
    for (const part of this.place.querySelectorAll(".tools, .keys-note")) {
      if (part instanceof HTMLElement) part.hidden = !drawn;
    }
    this.scene.show(new Graph(data));
    this.scene.resize();
    this.scene.fit();
    this.search();
    this.select(this.scene.graph.find(selected), false);
  }

  /**
   * Selects a node, and says so; -1 for none.
   * @param {number} at
   * @param {boolean} [moves] whether the canvas moves to show it
   */
  select(at, moves = true) {
    const { scene } = this;
    scene.selected = at;
    this.place.toggleAttribute("data-selected", at >= 0);
    if (at < 0) {
      this.panel.hidden = true;
      this.panel.replaceChildren();
      this.said.textContent = "";
    } else {
      const node = scene.graph.nodes[at];
      this.canvas.dataset.selected = node.node_id;
      fill(this.panel, this.texts, scene.graph, at, this.ways(node.node_id));
      this.said.textContent = `${node.label} · ${about(this.texts, node)}`;
      if (moves) scene.camera.include(node.x, node.y, scene.width, scene.height);
    }
    if (at < 0) delete this.canvas.dataset.selected;
    scene.draw();
  }

  /**
   * Where the page shows what is near a node, and where it shows its neighbors too.
   * @param {string} id
   */
  ways(id) {
    const [follow, expand] = [0, 1].map(() => new URL(this.state.page ?? "", location.href));
    for (const name of ["expand", "text", "from"]) follow.searchParams.delete(name);
    follow.searchParams.set("around", id);
    const expanded = expand.searchParams.get("expand");
    expand.searchParams.set("expand", expanded ? `${expanded},${id}` : id);
    const path = (/** @type {URL} */ { pathname, searchParams }) =>
      `${pathname}?${searchParams.toString().replaceAll("%2C", ",")}`;
    return { follow: path(follow), expand: path(expand) };
  }

  /** Highlights the nodes whose label contains what the field says, and selects the next one on request. */
  search(next = false) {
    const field = this.place.querySelector("[data-highlight]");
    const wanted = field instanceof HTMLInputElement ? field.value.trim().toLowerCase() : "";
    const { scene } = this;
    const found = [...scene.graph.nodes.entries()].filter(
      ([, node]) => node.matched || (wanted && node.label.toLowerCase().includes(wanted)),
    );
    scene.found = new Set(found.filter(([, node]) => !wanted || node.label.toLowerCase().includes(wanted)).map(([at]) => at));
    const count = this.place.querySelector("[data-count]");
    if (count) count.textContent = wanted ? filled(this.texts.found, { n: number(scene.found.size) }) : "";
    const all = Array.from(scene.found);
    if (next && all.length > 0) this.select(all[(all.indexOf(scene.selected) + 1) % all.length]);
    scene.draw();
  }

  /** @param {string} address */
  async go(address) {
    history.pushState(null, "", address);
    try {
      await refresh();
    } catch (error) {
      explain(error);
    }
  }
}

/** @param {HTMLElement} place */
export function watchGraph(place) {
  const view = new View(place);
  watchMoves(view);
  document.addEventListener("refreshed", () => void view.load());
  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const link = target?.closest("a");
    const plain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (link?.dataset.node !== undefined && plain) {
      event.preventDefault();
      view.select(Number(link.dataset.node));
      view.panel.querySelector("a")?.focus({ preventScroll: true });
    } else if (link?.dataset.graphLink !== undefined && plain) {
      event.preventDefault();
      void view.go(link.href);
    } else if (target?.closest("[data-action=clear]")) {
      view.select(-1);
      view.canvas.focus({ preventScroll: true });
    }
  });
  addEventListener("popstate", () => location.reload());
  void view.load().catch((error) => console.error(reasonOf(error)));
}
