// Accessibility rules of axe-core, in an isolated world: the page's policy forbids scripts from elsewhere, and must not
// be weakened for the test.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { installed } from "./places.mjs";

const SOURCE = readFileSync(installed.resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds wrong with the page as it is now. */
export async function violations(page) {
  const cdp = await page.context().newCDPSession(page);
  const { frameTree } = await cdp.send("Page.getFrameTree");
  const { executionContextId } = await cdp.send("Page.createIsolatedWorld", {
    frameId: frameTree.frame.id,
    worldName: "axe",
  });
  const evaluated = async (expression) => {
    const answer = await cdp.send("Runtime.evaluate", {
      expression,
      contextId: executionContextId,
      awaitPromise: true,
      returnByValue: true,
    });
    assert.equal(answer.exceptionDetails, undefined, JSON.stringify(answer.exceptionDetails));
    return answer.result.value;
  };
  await evaluated(`${SOURCE}; undefined`);
  const found = await evaluated(`axe.run(document, { resultTypes: ["violations"] }).then((found) =>
    found.violations.map((violation) => ({
      rule: violation.id,
      help: violation.help,
      at: violation.nodes.slice(0, 5).map((node) => node.target.join(" ") + ": " + node.failureSummary),
    })))`);
  await cdp.detach();
  return found;
}
