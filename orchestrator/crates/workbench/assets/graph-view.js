// @ts-check
// A graph as the API gives it, with what its drawing needs to know: neighbors, the way from places to pixels.

/**
 * @typedef {{node_id: string, kind: "claim" | "passage" | "work", label: string, x: number, y: number, weight: number,
 *   relation_count: number, hidden_count: number, cluster: number | null, path: string, matched?: boolean, side?: string,
 *   confidence?: number, citation?: string, year?: number, is_retracted?: boolean}} GraphNode
 * @typedef {{from: number, to: number, relation: string, count: number, nli_confidence?: number}} GraphEdge
 * @typedef {{named_after: number, nodes: number[]}} Cluster
 * @typedef {{nodes: GraphNode[], edges: GraphEdge[], clusters: Cluster[]}} Data
 * @typedef {{node: number, relation: string, out: boolean}} Neighbor
 */

const [LEAST_SCALE, MOST_SCALE] = [0.02, 6];

/**
 * How far a node reaches at 100 %, as the server's layout keeps it free.
 * @param {GraphNode} node
 */
export function radius(node) {
  return 4 + 8 * Math.sqrt(node.weight);
}

/** A graph. */
export class Graph {
  /** @param {Data} data */
  constructor(data) {
    this.nodes = data.nodes;
    this.edges = data.edges;
    this.clusters = data.clusters;
    /** @type {Neighbor[][]} */
    this.near = data.nodes.map(() => []);
    for (const { from, to, relation } of data.edges) {
      this.near[from].push({ node: to, relation, out: true });
      this.near[to].push({ node: from, relation, out: false });
    }
    this.box = box(data.nodes);
  }

  /** @param {string | undefined} id */
  find(id) {
    return this.nodes.findIndex((node) => node.node_id === id);
  }

  /**
   * The node that is drawn at a place, or one that is very near; -1 for none.
   * @param {number} x
   * @param {number} y
   * @param {number} slack how near, in the graph's own pixels
   */
  at(x, y, slack) {
    let [found, least] = [-1, Infinity];
    for (const [at, node] of this.nodes.entries()) {
      const away = Math.hypot(node.x - x, node.y - y) - radius(node);
      if (away < slack && away < least) [found, least] = [at, away];
    }
    return found;
  }

  /**
   * The nearest neighbor in a direction; without one, the nearest node there. -1 for none.
   * @param {number} from
   * @param {number} dx
   * @param {number} dy
   */
  towards(from, dx, dy) {
    const start = this.nodes[from];
    const nearest = (/** @type {Iterable<number>} */ among) => {
      let [found, least] = [-1, Infinity];
      for (const at of among) {
        const [x, y] = [this.nodes[at].x - start.x, this.nodes[at].y - start.y];
        const along = x * dx + y * dy;
        // Within about 60 degrees of the direction; what is off to a side counts as further.
        const aside = Math.abs(x * dy - y * dx);
        if (at === from || along <= 0 || aside > 1.8 * along) continue;
        const away = along + 1.5 * aside;
        if (away < least) [found, least] = [at, away];
      }
      return found;
    };
    const neighbor = nearest(this.near[from].map(({ node }) => node));
    return neighbor >= 0 ? neighbor : nearest(this.nodes.keys());
  }
}

/** @param {GraphNode[]} nodes */
function box(nodes) {
  const box = { left: 0, top: 0, right: 0, bottom: 0 };
  for (const node of nodes) {
    const reach = radius(node);
    box.left = Math.min(box.left, node.x - reach);
    box.top = Math.min(box.top, node.y - reach);
    box.right = Math.max(box.right, node.x + reach);
    box.bottom = Math.max(box.bottom, node.y + reach);
  }
  return box;
}

/** The way from the graph's places to pixels of the canvas. */
export class Camera {
  constructor() {
    this.x = 0;
    this.y = 0;
    this.scale = 1;
  }

  /** @param {Camera} other */
  copy(other) {
    [this.x, this.y, this.scale] = [other.x, other.y, other.scale];
  }

  /**
   * @param {number} x
   * @param {number} y
   * @returns {[number, number]}
   */
  toPixels(x, y) {
    return [x * this.scale + this.x, y * this.scale + this.y];
  }

  /**
   * @param {number} x
   * @param {number} y
   * @returns {[number, number]}
   */
  toGraph(x, y) {
    return [(x - this.x) / this.scale, (y - this.y) / this.scale];
  }

  /**
   * Zooms around a point of the canvas.
   * @param {number} factor
   * @param {number} x
   * @param {number} y
   */
  zoom(factor, x, y) {
    const scale = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, this.scale * factor));
    const by = scale / this.scale;
    this.x = x - (x - this.x) * by;
    this.y = y - (y - this.y) * by;
    this.scale = scale;
  }

  /**
   * Shows a whole box.
   * @param {{left: number, top: number, right: number, bottom: number}} box
   * @param {number} width
   * @param {number} height
   */
  fit(box, width, height) {
    const margin = 48;
    const across = (width - 2 * margin) / Math.max(1, box.right - box.left);
    const down = (height - 2 * margin) / Math.max(1, box.bottom - box.top);
    this.scale = Math.min(1.5, Math.max(LEAST_SCALE, Math.min(across, down)));
    this.x = width / 2 - ((box.left + box.right) / 2) * this.scale;
    this.y = height / 2 - ((box.top + box.bottom) / 2) * this.scale;
  }

  /**
   * Moves as little as it takes for a place to be visible.
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   */
  include(x, y, width, height) {
    const margin = Math.min(80, width / 4, height / 4);
    const [px, py] = this.toPixels(x, y);
    this.x += Math.min(Math.max(px, margin), width - margin) - px;
    this.y += Math.min(Math.max(py, margin), height - margin) - py;
  }
}
