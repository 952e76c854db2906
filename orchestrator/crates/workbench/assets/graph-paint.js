// @ts-check
// How nodes, relations, and labels are painted: colors of the theme, shapes by kind.
import { radius } from "./graph-view.js";

/** @typedef {import("./graph-view.js").GraphNode} GraphNode */
/** @typedef {import("./graph-view.js").GraphEdge} GraphEdge */
/** @typedef {import("./graph-view.js").Camera} Camera */
/** @typedef {Record<string, string>} Colors */

/** Relations with their colors, their dashes at 100 %, and how strongly they are painted; the last lie on top. */
export const LINES = /** @type {[string, string, number[], number][]} */ ([
  ["part_of", "line", [1, 2], 0.9],
  ["cites", "strong-line", [], 0.5],
  ["origin", "strong-line", [2, 3], 0.5],
  ["neutral", "neutral", [2, 3], 0.5],
  ["supports", "support", [], 0.55],
  ["refutes", "refute", [6, 3], 0.65],
]);

const NAMES = ["card", "ink", "quiet", "line", "strong-line", "accent", "support", "refute", "neutral", "mark"];

/**
 * The theme's colors as they are now.
 * @param {Element} place
 * @returns {Colors}
 */
export function colors(place) {
  const probe = document.createElement("span");
  probe.hidden = true;
  place.append(probe);
  const found = NAMES.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(found);
}

/**
 * Adds a relation to the current path.
 * @param {CanvasRenderingContext2D} context
 * @param {Camera} camera
 * @param {GraphNode} from
 * @param {GraphNode} to
 */
export function line(context, camera, from, to) {
  context.moveTo(from.x * camera.scale + camera.x, from.y * camera.scale + camera.y);
  context.lineTo(to.x * camera.scale + camera.x, to.y * camera.scale + camera.y);
}

/**
 * How far a node reaches on the canvas: a little more than to scale where the graph is small.
 * @param {GraphNode} node
 * @param {number} scale
 */
export function reach(node, scale) {
  return Math.max(1.2, radius(node) * Math.min(1.6, Math.max(scale, 0.45 * Math.sqrt(scale))));
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Colors} colors
 * @param {GraphNode} node
 * @param {number} x
 * @param {number} y
 * @param {number} r
 */
export function mark(context, colors, node, x, y, r) {
  if (node.kind === "work") return work(context, colors, node, x, y, r);
  if (node.kind === "passage") {
    context.fillStyle = colors.neutral;
    polygon(context, [x, y - r, x + r, y, x, y + r, x - r, y]);
    return;
  }
  context.fillStyle = { refuted: colors.refute, open: colors.card }[node.side ?? ""] ?? colors.support;
  disc(context, x, y, r);
  if (node.side === "open") {
    context.strokeStyle = colors.neutral;
    context.lineWidth = Math.min(1.5, r / 2);
    context.stroke();
  } else if (node.side === "contested") {
    context.fillStyle = colors.refute;
    context.beginPath();
    context.arc(x, y, r, -Math.PI / 2, Math.PI / 2);
    context.fill();
  } else if (r >= 5) {
    const s = (node.side === "refuted" ? -0.55 : 0.55) * r;
    context.fillStyle = colors.card;
    polygon(context, [x, y - s, x + s, y + 0.6 * s, x - s, y + 0.6 * s]);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Colors} colors
 * @param {GraphNode} node
 * @param {number} x
 * @param {number} y
 * @param {number} r
 */
function work(context, colors, node, x, y, r) {
  context.fillStyle = colors.quiet;
  context.fillRect(x - 0.88 * r, y - 0.88 * r, 1.76 * r, 1.76 * r);
  if (!node.is_retracted) return;
  context.strokeStyle = colors.refute;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x - r, y - r);
  context.lineTo(x + r, y + r);
  context.moveTo(x + r, y - r);
  context.lineTo(x - r, y + r);
  context.stroke();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} r
 */
function disc(context, x, y, r) {
  context.beginPath();
  context.arc(x, y, r, 0, 2 * Math.PI);
  context.fill();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number[]} corners
 */
function polygon(context, corners) {
  context.beginPath();
  for (let at = 0; at < corners.length; at += 2) context.lineTo(corners[at], corners[at + 1]);
  context.fill();
}

/**
 * A ring around a node that stands out.
 * @param {CanvasRenderingContext2D} context
 * @param {string} color
 * @param {number} x
 * @param {number} y
 * @param {number} r
 */
export function ring(context, color, x, y, r) {
  context.strokeStyle = color;
  context.lineWidth = 2;
  context.beginPath();
  context.arc(x, y, r + 4, 0, 2 * Math.PI);
  context.stroke();
}

/** Labels that are shown without lying on each other. */
export class Labels {
  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Colors} colors
   * @param {number} width of the canvas
   */
  constructor(context, colors, width) {
    this.width = width;
    this.context = context;
    this.colors = colors;
    /** @type {[number, number, number, number][]} */
    this.taken = [];
    context.textAlign = "center";
    context.textBaseline = "top";
    context.lineJoin = "round";
  }

  /**
   * Keeps a node free of labels.
   * @param {number} x
   * @param {number} y
   * @param {number} r
   */
  avoid(x, y, r) {
    this.taken.push([x - r, y - r, x + r, y + r]);
  }

  /**
   * Writes a label beside a node, where there is room; returns whether there was.
   * @param {string} text
   * @param {number} x
   * @param {number} y
   * @param {number} r how far the node reaches
   * @param {boolean} [always] below it, even without room
   */
  add(text, x, y, r, always = false) {
    const half = this.context.measureText(text).width / 2 + 3;
    const inside = (/** @type {number} */ center) => Math.min(Math.max(center, half), Math.max(half, this.width - half));
    const places = [
      [inside(x), y + r + 2],
      [inside(x), y - r - 18],
      [x + r + half, y - 8],
      [x - r - half, y - 8],
    ];
    const free = (/** @type {number[]} */ [center, top]) => {
      const [left, right, bottom] = [center - half, center + half, top + 16];
      return (
        left >= 0 &&
        right <= this.width &&
        !this.taken.some((other) => left < other[2] && other[0] < right && top < other[3] && other[1] < bottom)
      );
    };
    const place = places.find(free) ?? (always ? places[0] : undefined);
    if (!place) return false;
    const [center, top] = place;
    this.taken.push([center - half, top - 2, center + half, top + 18]);
    this.context.strokeStyle = this.colors.card;
    this.context.lineWidth = 3;
    this.context.strokeText(text, center, top + 1);
    this.context.fillStyle = this.colors.ink;
    this.context.fillText(text, center, top + 1);
    return true;
  }
}

/**
 * A label on one line of at most so many characters; wide ones count twice.
 * @param {string} text
 * @param {number} most
 */
export function short(text, most) {
  let used = 0;
  const characters = Array.from(text);
  const end = characters.findIndex((c) => (used += (c.codePointAt(0) ?? 0) > 0x2e7f ? 2 : 1) > most);
  return end < 0 ? text : `${characters.slice(0, end).join("").trimEnd()}…`;
}
