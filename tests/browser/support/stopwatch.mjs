// Times what a person waits for, inside the page: the driver's own round trips take as long again.

/**
 * Starts a stopwatch at the next event of a kind. It stops at the frame in which exactly one element of the page matches a
 * selector.
 * @param {import("playwright-core").Page} page
 * @param {"input" | "keydown"} event
 * @param {string} selector
 * @returns {Promise<{ stopped: () => Promise<number> }>} milliseconds from the event to the frame
 */
export async function stopwatch(page, event, selector) {
  await page.evaluate(
    ([kind, wanted]) => {
      window.stopped = new Promise((resolve) => {
        addEventListener(
          kind,
          () => {
            const started = performance.now();
            const look = () => {
              if (document.querySelectorAll(wanted).length !== 1) return;
              observer.disconnect();
              // The first callback runs before the frame is drawn, the second after it.
              requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - started)));
            };
            const observer = new MutationObserver(look);
            observer.observe(document.body, { childList: true, subtree: true, attributes: true });
          },
          { capture: true, once: true },
        );
      });
    },
    [event, selector],
  );
  return { stopped: () => page.evaluate(() => window.stopped) };
}
