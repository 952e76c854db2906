// @ts-check
// The panel beside the graph: what is known of the selected node, its neighbors, and where one can go from it.
import { filled, number } from "./say.js";

/** @typedef {import("./graph-view.js").Graph} Graph */
/** @typedef {import("./graph-view.js").GraphNode} GraphNode */

/** Neighbors that are listed. */
const MOST = 40;

/**
 * What a node is, in words.
 * @param {DOMStringMap} texts
 * @param {GraphNode} node
 */
export function about(texts, node) {
  const side = node.side === "open" ? "undecided" : node.side;
  const parts = [texts[node.kind], side && texts[side]];
  if (node.confidence !== undefined) parts.push(`${texts.confidence} ${node.confidence.toFixed(2)}`);
  parts.push(node.citation, node.year === undefined ? "" : String(node.year), node.is_retracted ? texts.retracted : "");
  parts.push(filled(texts.relationCount, { n: number(node.relation_count) }));
  if (node.hidden_count > 0) parts.push(filled(texts.hiddenCount, { n: number(node.hidden_count) }));
  return parts.filter(Boolean).join(" · ");
}

/**
 * Shows a node in the panel.
 * @param {HTMLElement} panel
 * @param {DOMStringMap} texts
 * @param {Graph} graph
 * @param {number} at
 * @param {{follow: string, expand: string}} addresses
 */
export function fill(panel, texts, graph, at, addresses) {
  const node = graph.nodes[at];
  const title = element("h3", "", link(node.path, node.label || node.node_id));
  const facts = element("p", "small quiet", about(texts, node));
  const cluster = node.cluster === null ? undefined : graph.clusters[node.cluster];
  const named = cluster && graph.nodes[cluster.named_after].label;
  const actions = element("div", "actions", button(link(node.path, texts.open ?? "")));
  for (const [name, address] of [["follow", addresses.follow], ["expand", addresses.expand]]) {
    const to = button(link(address, texts[name] ?? ""));
    to.dataset.graphLink = "";
    to.dataset.action = name;
    actions.append(to);
  }
  const clear = element("button", "quiet", texts.clear ?? "");
  clear.setAttribute("type", "button");
  clear.dataset.action = "clear";
  actions.append(clear);
  const list = element("ul", "neighbors");
  const near = graph.near[at];
  for (const { node: other, relation, out } of near.slice(0, MOST)) {
    const to = link(graph.nodes[other].path, graph.nodes[other].label || graph.nodes[other].node_id);
    to.dataset.node = String(other);
    list.append(element("li", "", element("span", "quiet", `${out ? "→" : "←"} ${texts[key(relation)] ?? relation}`), to));
  }
  if (near.length > MOST) {
    list.append(element("li", "quiet", filled(texts.more, { n: number(near.length - MOST) })));
  }
  panel.replaceChildren(title, facts, actions);
  if (named) panel.append(element("p", "small quiet", `${texts.cluster}: ${named}`));
  if (near.length > 0) panel.append(element("h3", "small quiet", texts.neighbors ?? ""), list);
  panel.hidden = false;
}

/** @param {string} relation */
function key(relation) {
  return relation === "part_of" ? "partOf" : relation;
}

/**
 * @param {string} kind
 * @param {string} name
 * @param {...(string | Node)} content
 */
function element(kind, name, ...content) {
  const made = document.createElement(kind);
  if (name) made.className = name;
  made.append(...content);
  return made;
}

/**
 * @param {string} address
 * @param {string} text
 */
function link(address, text) {
  const made = document.createElement("a");
  made.href = address;
  made.textContent = text;
  return made;
}

/** @param {HTMLAnchorElement} made */
function button(made) {
  made.className = "button";
  return made;
}
