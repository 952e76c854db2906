// What pages show, read from their markup.

/** Ids of the cards, in their order. */
export function cards(page) {
  return page.locator("[data-claim]").evaluateAll((all) => all.map((card) => card.getAttribute("data-claim")));
}

/** The confidence on a claim's page, as it is written there. */
export function confidence(page) {
  return page.locator("#numbers .value").first().innerText();
}

/** A passage on a claim's page. */
export function passage(page, edge) {
  return page.locator(`li[data-edge="${edge}"]`);
}

/** The passage that the keys act on. */
export function current(page) {
  return page.locator("[data-current]").getAttribute("data-edge");
}

/** A judgment as stored. */
export function judged(claim, edge) {
  return claim.evidence.find((evidence) => evidence.edge_id === edge);
}

/** Marks the document, to see later that it was not loaded again as a whole. */
export async function mark(page) {
  await page.evaluate(() => document.documentElement.setAttribute("data-kept", ""));
}

export function kept(page) {
  return page.evaluate(() => document.documentElement.hasAttribute("data-kept"));
}

/** How far the page is wider than its window. */
export function overhang(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

/** Opens what is folded, so that it is looked at as well. */
export async function unfold(page) {
  const closed = page.locator("main details:not([open]) > summary").filter({ visible: true });
  // Opening one may show others.
  for (let left = await closed.count(); left > 0; left = await closed.count()) await closed.first().click();
}
