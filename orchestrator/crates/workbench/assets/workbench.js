// @ts-check
// Adds behavior to pages that are whole without it.
import { watchActions } from "./actions.js";
import { watchSources } from "./ask-sources.js";
import { watchLists, watchNarrowing, watchSettings } from "./choices.js";
import { watchExplore } from "./explore.js";
import { watchFusion } from "./fusion.js";
import { watchImports } from "./import.js";
import { watchKeys } from "./keys.js";
import { listen } from "./live.js";
import { watchGrids } from "./matrix.js";
import { watchOperations } from "./operations.js";
import { watchScreening } from "./screening.js";
import { watchSelection } from "./selection.js";

/** Dates and times in the reader's language and time zone. */
function showTimes() {
  const language = document.documentElement.lang;
  const format = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  for (const time of document.querySelectorAll("time[datetime]")) {
    const at = new Date(time.getAttribute("datetime") ?? "");
    if (!Number.isNaN(at.getTime())) time.textContent = format.format(at);
  }
}

watchSettings();
watchNarrowing();
watchLists();
watchActions();
watchImports();
watchSources();
watchKeys();
watchExplore();
watchFusion();
watchOperations();
watchGrids();
watchScreening();
watchSelection();
listen();
showTimes();
// Only where there is a graph: its modules are large.
const graph = document.getElementById("graph");
if (graph) void import("./graph.js").then(({ watchGraph }) => watchGraph(graph));
for (const kind of ["refreshed", "extended"]) document.addEventListener(kind, showTimes);
