// @ts-check
// The graph on a canvas. All nodes and relations are painted into a picture that is larger than the canvas, a slice per frame;
// moving the graph only moves that picture, and a new one is painted when it no longer fits. Above it lie, in every frame,
// what is highlighted and the labels.
import { Camera, Graph } from "./graph-view.js";
import { LINES, Labels, colors, line, mark, reach, ring, short } from "./graph-paint.js";

/** Milliseconds of a frame that painting the next picture may take. */
const SLICE_MS = 6;
/** Relations in one path: long paths are slow. */
const STROKE = 64;
/** How far the picture reaches beyond the canvas on each side, as a share of its size. */
const BEYOND = 0.35;
/** Pixels of the canvas for each label; the characters of one. */
const [ROOM, CHARACTERS] = [42_000, 24];
/** Nodes that are tried for a label, and nodes that no label lies on, the heaviest that can be seen. */
const [TRIED, AVOIDED] = [80, 300];
/** Clusters of at least so many nodes are named where nodes are too small for it, the largest of them. */
const [NAMED, CLUSTERS] = [6, 12];

/** A picture of the graph, and how far it is. */
class Picture {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    this.camera = new Camera();
    this.ready = false;
  }
}

export class Scene {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.camera = new Camera();
    this.graph = new Graph({ nodes: [], edges: [], clusters: [] });
    this.colors = colors(canvas.parentElement ?? document.body);
    this.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    this.selected = -1;
    this.over = -1;
    /** @type {Set<number>} */
    this.found = new Set();
    this.shown = new Picture();
    this.next = new Picture();
    /** @type {Generator<void> | undefined} */
    this.painting = undefined;
    this.waiting = false;
    this.width = 0;
    this.height = 0;
    this.density = 1;
  }

  /** @param {Graph} graph */
  show(graph) {
    this.graph = graph;
    [this.selected, this.over, this.found] = [-1, -1, new Set()];
    this.fit();
  }

  fit() {
    this.camera.fit(this.graph.box, this.width, this.height);
    this.repaint();
  }

  /** Takes over the size of the canvas, or other colors. */
  resize() {
    const { clientWidth, clientHeight } = this.canvas;
    const first = this.width === 0;
    [this.width, this.height, this.density] = [clientWidth, clientHeight, Math.min(3, devicePixelRatio || 1)];
    this.canvas.width = Math.round(clientWidth * this.density);
    this.canvas.height = Math.round(clientHeight * this.density);
    this.colors = colors(this.canvas.parentElement ?? document.body);
    const selected = this.graph.nodes[this.selected];
    if (first) this.camera.fit(this.graph.box, this.width, this.height);
    else if (selected) this.camera.include(selected.x, selected.y, this.width, this.height);
    this.repaint();
  }

  /** Repaints the picture. */
  repaint() {
    this.shown.ready = false;
    this.painting = undefined;
    this.draw();
  }

  /** Draws once, in the next frame. */
  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.frame();
    });
  }

  frame() {
    if (this.width === 0) return;
    if (!this.painting && this.outdated()) this.painting = this.paint(this.next);
    if (this.painting) {
      const end = performance.now() + SLICE_MS;
      let done = false;
      while (!done && performance.now() < end) done = this.painting.next().done === true;
      if (done) {
        [this.shown, this.next] = [this.next, this.shown];
        this.shown.ready = true;
        this.painting = undefined;
      }
      // Until it is done, and then whether the graph has moved on since.
      this.draw();
    }
    this.compose();
  }

  /** Whether the picture no longer has what the canvas shows, at its scale. */
  outdated() {
    const { camera, ready } = this.shown;
    if (!ready || camera.scale !== this.camera.scale) return true;
    const [left, top] = [this.camera.x - camera.x, this.camera.y - camera.y];
    return Math.abs(left) > BEYOND * this.width || Math.abs(top) > BEYOND * this.height;
  }

  /**
   * Paints all that is in reach, in steps.
   * @param {Picture} picture
   */
  *paint(picture) {
    const { context, camera } = picture;
    const [width, height] = [this.width * (1 + 2 * BEYOND), this.height * (1 + 2 * BEYOND)];
    picture.ready = false;
    picture.canvas.width = Math.round(width * this.density);
    picture.canvas.height = Math.round(height * this.density);
    camera.copy(this.camera);
    context.setTransform(this.density, 0, 0, this.density, BEYOND * this.width * this.density, BEYOND * this.height * this.density);
    const [left, top] = camera.toGraph(-BEYOND * this.width, -BEYOND * this.height);
    const [right, bottom] = camera.toGraph((1 + BEYOND) * this.width, (1 + BEYOND) * this.height);
    const { nodes, edges } = this.graph;
    yield;
    const thin = Math.min(1.4, Math.max(0.7, camera.scale));
    // Many relations on little room are painted more faintly.
    const faint = Math.min(1, 50 / Math.sqrt(edges.length + 1)) * Math.min(1, 0.6 + camera.scale);
    for (const [relation, color, dashes, strength] of LINES) {
      context.strokeStyle = this.colors[color];
      context.globalAlpha = Math.max(0.08, strength * faint);
      context.lineWidth = thin;
      context.setLineDash(camera.scale > 0.4 ? dashes : []);
      let path = 0;
      context.beginPath();
      for (const edge of edges) {
        if (edge.relation !== relation) continue;
        const [from, to] = [nodes[edge.from], nodes[edge.to]];
        if (Math.max(from.x, to.x) < left || Math.min(from.x, to.x) > right) continue;
        if (Math.max(from.y, to.y) < top || Math.min(from.y, to.y) > bottom) continue;
        line(context, camera, from, to);
        if (++path % STROKE === 0) {
          context.stroke();
          context.beginPath();
          yield;
        }
      }
      context.stroke();
    }
    context.globalAlpha = 1;
    context.setLineDash([]);
    for (const [at, node] of nodes.entries()) {
      if (node.x < left || node.x > right || node.y < top || node.y > bottom) continue;
      const [x, y] = camera.toPixels(node.x, node.y);
      mark(context, this.colors, node, x, y, reach(node, camera.scale));
      if (at % STROKE === 0) yield;
    }
  }

  /** Puts the picture, what is highlighted, and the labels onto the canvas. */
  compose() {
    const { context, shown, camera } = this;
    context.setTransform(this.density, 0, 0, this.density, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    if (shown.canvas.width > 0) {
      const by = camera.scale / shown.camera.scale;
      const x = camera.x - shown.camera.x * by - BEYOND * this.width * by;
      const y = camera.y - shown.camera.y * by - BEYOND * this.height * by;
      const size = shown.canvas.width / this.density;
      context.drawImage(shown.canvas, x, y, size * by, (shown.canvas.height / this.density) * by);
    }
    const shownNode = this.over >= 0 ? this.over : this.selected;
    const focus = shownNode >= 0 ? new Set([shownNode, ...this.graph.near[shownNode].map(({ node }) => node)]) : undefined;
    if (focus) this.highlight(shownNode, focus);
    for (const at of this.found) this.encircle(at, this.colors.accent);
    if (this.selected >= 0) this.encircle(this.selected, this.colors.ink);
    this.label(focus, shownNode);
  }

  /**
   * A node with its neighbors, over everything else, which fades.
   * @param {number} center
   * @param {Set<number>} focus
   */
  highlight(center, focus) {
    const { context, graph, camera } = this;
    context.globalAlpha = 0.7;
    context.fillStyle = this.colors.card;
    context.fillRect(0, 0, this.width, this.height);
    context.lineWidth = 1.6;
    for (const [relation, color, dashes] of LINES) {
      context.strokeStyle = this.colors[color];
      context.globalAlpha = 0.9;
      context.setLineDash(dashes);
      context.beginPath();
      for (const { node, relation: own } of graph.near[center]) {
        if (own === relation) line(context, camera, graph.nodes[center], graph.nodes[node]);
      }
      context.stroke();
    }
    context.globalAlpha = 1;
    context.setLineDash([]);
    for (const at of focus) {
      const node = graph.nodes[at];
      const [x, y] = camera.toPixels(node.x, node.y);
      mark(context, this.colors, node, x, y, Math.max(3, reach(node, camera.scale)));
    }
  }

  /**
   * @param {number} at
   * @param {string} color
   */
  encircle(at, color) {
    const node = this.graph.nodes[at];
    const [x, y] = this.camera.toPixels(node.x, node.y);
    if (this.sees(x, y)) ring(this.context, color, x, y, reach(node, this.camera.scale));
  }

  /**
   * @param {number} x
   * @param {number} y
   */
  sees(x, y) {
    return x > -20 && y > -20 && x < this.width + 20 && y < this.height + 20;
  }

  /**
   * Labels of what is highlighted, or else of the heaviest nodes that can be seen.
   * @param {Set<number> | undefined} focus
   * @param {number} center
   */
  label(focus, center) {
    const { context, graph, camera } = this;
    context.font = this.font;
    const labels = new Labels(context, this.colors, this.width);
    const few = graph.nodes.length <= 60;
    let left = focus || few ? 60 : Math.max(8, Math.round((this.width * this.height) / ROOM));
    const write = (/** @type {number} */ at, /** @type {number} */ characters, always = false) => {
      const node = graph.nodes[at];
      const [x, y] = camera.toPixels(node.x, node.y);
      if (this.sees(x, y) && labels.add(short(node.label, characters), x, y, reach(node, camera.scale), always)) left -= 1;
    };
    const large = graph.clusters.slice(0, CLUSTERS).filter(({ nodes }) => nodes.length >= NAMED);
    const heads = large.map((cluster) => cluster.named_after);
    // Nodes stand by weight. Those that are small on the canvas have no label, except as names of their clusters.
    const seen = (/** @type {number} */ at) => this.sees(...camera.toPixels(graph.nodes[at].x, graph.nodes[at].y));
    const tall = Array.from(graph.nodes.keys()).filter((at) => reach(graph.nodes[at], camera.scale) >= 3.5 && seen(at));
    const chosen = focus ?? (this.found.size > 0 ? this.found : new Set([...heads, ...tall.slice(0, TRIED)]));
    for (const at of focus ?? tall.slice(0, AVOIDED)) {
      const node = graph.nodes[at];
      labels.avoid(...camera.toPixels(node.x, node.y), reach(node, camera.scale));
    }
    if (center >= 0) write(center, 60, true);
    for (const at of chosen) {
      if (left <= 0) break;
      if (at !== center) write(at, CHARACTERS);
    }
  }
}
