// @ts-check
// Claims that are selected in a list: how many, all, or none.
import { filled, number } from "./say.js";

/** @returns {HTMLInputElement[]} */
function boxes() {
  return Array.from(document.querySelectorAll("input[data-selects]"));
}

/** Says how many are selected. */
function count() {
  const place = document.querySelector("[data-selected]");
  if (!(place instanceof HTMLElement)) return;
  const chosen = boxes().filter((box) => box.checked).length;
  place.textContent = filled(chosen === 1 ? place.dataset.one : place.dataset.other, { n: number(chosen) });
}

export function watchSelection() {
  if (!document.querySelector("[data-selected]")) return;
  document.addEventListener("change", (event) => {
    if (event.target instanceof Element && event.target.matches("input[data-selects]")) count();
  });
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button[data-select]") : null;
    if (!(button instanceof HTMLElement)) return;
    for (const box of boxes()) box.checked = button.dataset.select === "all";
    count();
  });
  // Enter in a check box would send the form.
  document.addEventListener("keydown", (event) => {
    const box = event.target instanceof Element && event.target.matches("input[data-selects]");
    if (box && event.key === "Enter") event.preventDefault();
  });
  for (const kind of ["refreshed", "extended"]) document.addEventListener(kind, count);
  // After a browser has gone back, it may have kept what was selected.
  addEventListener("pageshow", count);
  count();
}
