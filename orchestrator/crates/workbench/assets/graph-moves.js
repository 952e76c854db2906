// @ts-check
// Moving through the graph: pointer, two fingers, wheel, buttons, keys.

/** @typedef {import("./graph.js").View} View */

const STEP = 1.3;
/** Pixels within which a press is a click. */
const STILL = 5;
const ARROWS = /** @type {Record<string, [number, number]>} */ ({
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
});

/** @param {View} view */
export function watchMoves(view) {
  watchPointers(view);
  watchKeys(view);
  const { canvas, scene, place } = view;
  canvas.addEventListener("wheel", (event) => {
    // Who scrolls past the graph does not mean to zoom; who has clicked into it does.
    if (!event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    const [x, y] = within(canvas, event);
    scene.camera.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.002)), x, y);
    scene.draw();
  }, { passive: false });
  place.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-zoom]") : null;
    const kind = button?.getAttribute("data-zoom");
    if (kind === "fit") fit(view);
    else if (kind) zoom(view, kind === "in" ? STEP : 1 / STEP);
  });
  const field = place.querySelector("[data-highlight]");
  field?.addEventListener("input", () => view.search());
  field?.addEventListener("keydown", (event) => {
    if (event instanceof KeyboardEvent && event.key === "Enter") view.search(true);
  });
}

/**
 * @param {View} view
 * @param {number} factor
 */
function zoom(view, factor) {
  const { scene } = view;
  const node = scene.graph.nodes[scene.selected];
  const [x, y] = node ? scene.camera.toPixels(node.x, node.y) : [scene.width / 2, scene.height / 2];
  scene.camera.zoom(factor, x, y);
  scene.draw();
}

/**
 * Shows the whole graph, by and by where motion is welcome.
 * @param {View} view
 */
function fit(view) {
  const { scene } = view;
  const { x, y, scale } = scene.camera;
  scene.camera.fit(scene.graph.box, scene.width, scene.height);
  const to = { x: scene.camera.x, y: scene.camera.y, scale: scene.camera.scale };
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return scene.draw();
  const started = performance.now();
  const step = () => {
    const part = Math.min(1, (performance.now() - started) / 220);
    const eased = 1 - (1 - part) ** 3;
    Object.assign(scene.camera, {
      x: x + (to.x - x) * eased,
      y: y + (to.y - y) * eased,
      scale: scale + (to.scale - scale) * eased,
    });
    scene.draw();
    if (part < 1) requestAnimationFrame(step);
  };
  step();
}

/**
 * Where an event is on the canvas.
 * @param {HTMLCanvasElement} canvas
 * @param {MouseEvent} event
 * @returns {[number, number]}
 */
function within(canvas, event) {
  const { left, top } = canvas.getBoundingClientRect();
  return [event.clientX - left, event.clientY - top];
}

/** @param {View} view */
function watchPointers(view) {
  const { canvas, scene } = view;
  /** @type {Map<number, [number, number]>} */
  const down = new Map();
  let moved = 0;
  const nodeAt = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ slack) =>
    scene.graph.at(...scene.camera.toGraph(x, y), slack / scene.camera.scale);
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    if (down.size === 0) moved = 0;
    down.set(event.pointerId, within(canvas, event));
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = within(canvas, event);
    const last = down.get(event.pointerId);
    if (!last) {
      const over = nodeAt(x, y, 4);
      canvas.toggleAttribute("data-over", over >= 0);
      if (over !== scene.over) {
        scene.over = over;
        scene.draw();
      }
      return;
    }
    const [dx, dy] = [x - last[0], y - last[1]];
    moved += Math.hypot(dx, dy);
    const other = Array.from(down).find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const [before, now] = [Math.hypot(last[0] - other[0], last[1] - other[1]), Math.hypot(x - other[0], y - other[1])];
      // The middle of both fingers stays where it is in the graph.
      scene.camera.x += dx / 2;
      scene.camera.y += dy / 2;
      if (before > 0) scene.camera.zoom(now / before, (x + other[0]) / 2, (y + other[1]) / 2);
    } else if (moved > STILL) {
      scene.camera.x += dx;
      scene.camera.y += dy;
      canvas.setAttribute("data-moving", "");
    }
    down.set(event.pointerId, [x, y]);
    scene.draw();
  });
  const up = (/** @type {PointerEvent} */ event) => {
    if (!down.delete(event.pointerId)) return;
    canvas.removeAttribute("data-moving");
    if (event.type === "pointerup" && moved <= STILL && down.size === 0) {
      view.select(nodeAt(...within(canvas, event), event.pointerType === "touch" ? 12 : 4), false);
    }
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => {
    if (scene.over < 0) return;
    scene.over = -1;
    scene.draw();
  });
}

/** @param {View} view */
function watchKeys(view) {
  const { canvas, scene, panel } = view;
  const press = (/** @type {string} */ selector) => {
    const element = panel.querySelector(selector);
    if (element instanceof HTMLElement) element.click();
  };
  /** @type {Record<string, () => void>} */
  const keys = {
    "+": () => zoom(view, STEP),
    "=": () => zoom(view, STEP),
    "-": () => zoom(view, 1 / STEP),
    0: () => fit(view),
    Escape: () => view.select(-1),
    Enter: () => press("h3 a"),
    e: () => press("[data-action=expand]"),
    f: () => press("[data-action=follow]"),
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = ARROWS[event.key];
    if (!arrow && !keys[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    if (!arrow) return keys[event.key]();
    // Nodes stand by weight: the first is where to begin.
    const next = scene.selected < 0 ? 0 : scene.graph.towards(scene.selected, ...arrow);
    if (next >= 0 && scene.graph.nodes.length > 0) view.select(next);
  });
}
