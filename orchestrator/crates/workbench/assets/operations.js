// @ts-check
// Operations: what the doctor finds, and new tokens, whose secret is shown once and kept nowhere.
import { Problem, call, reasonOf, text } from "./api.js";
import { download } from "./csv.js";
import { refresh } from "./live.js";
import { explain, notify } from "./notice.js";

const DAY_MS = 86_400_000;

export function watchOperations() {
  const page = document.querySelector("[data-operations]");
  if (!page) return;
  const doctor = page.querySelector("[data-doctor]");
  const button = doctor?.querySelector("[data-examine]");
  if (doctor instanceof HTMLElement && button) button.addEventListener("click", () => examine(doctor));
  const backup = page.querySelector("button[data-backup]");
  if (backup) backup.addEventListener("click", () => saveBackup(backup));
  const form = page.querySelector("form[data-new-token]");
  if (form instanceof HTMLFormElement) watchTokens(form);
}

/**
 * Has a backup made, and saves it. The browser keeps a large one on disk until then.
 * @param {Element} button
 */
async function saveBackup(button) {
  if (button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch("/api/v1/backups", { method: "POST", credentials: "same-origin" });
    if (!answer.ok) {
      const problem = await answer.json().catch(() => null);
      throw new Problem(answer.status, problem?.detail ?? text("failed"), problem?.hint);
    }
    const named = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") ?? "");
    download(named?.[1] ?? "lyra.tar.gz", await answer.blob());
    await refresh();
  } catch (error) {
    explain(error);
  } finally {
    button.removeAttribute("aria-busy");
  }
}

/**
 * Asks the doctor, and lists the findings.
 * @param {HTMLElement} section
 */
async function examine(section) {
  const status = section.querySelector("[data-status]");
  const place = section.querySelector("[data-findings]");
  const body = place?.querySelector("tbody");
  if (!status || !body || !(place instanceof HTMLElement) || section.getAttribute("aria-busy") === "true") return;
  section.setAttribute("aria-busy", "true");
  status.textContent = section.dataset.running ?? "";
  try {
    const { data } = await call("GET", "/api/v1/doctor");
    /** @type {{part: string, health: string, seen: string, remedy: string | null}[]} */
    const findings = data.findings;
    body.replaceChildren(...findings.map((finding) => row(section, finding)));
    place.hidden = false;
    const wrong = findings.filter(({ health }) => health !== "ok").length;
    const said = wrong === 0 ? section.dataset.allWell : wrong === 1 ? section.dataset.foundOne : section.dataset.foundOther;
    status.textContent = (said ?? "").replace("{n}", String(wrong));
  } catch (error) {
    status.textContent = reasonOf(error);
  } finally {
    section.removeAttribute("aria-busy");
  }
}

/**
 * @param {HTMLElement} section
 * @param {{part: string, health: string, seen: string, remedy: string | null}} finding
 */
function row(section, { part, health, seen, remedy }) {
  const line = document.createElement("tr");
  const name = document.createElement("th");
  name.scope = "row";
  name.textContent = part;
  const state = document.createElement("span");
  state.className = health === "ok" ? "pill busy" : health === "broken" ? "pill bad" : "pill";
  state.textContent = section.dataset[health] ?? health;
  line.append(name);
  line.insertCell().append(state);
  line.insertCell().textContent = seen;
  line.insertCell().textContent = remedy ?? "";
  return line;
}

/** @param {HTMLFormElement} form */
function watchTokens(form) {
  const secret = form.querySelector("[data-secret]");
  const shown = form.querySelector("output");
  const refused = form.querySelector("[role=alert]");
  if (!(secret instanceof HTMLElement) || !shown || !(refused instanceof HTMLElement)) return;
  const forget = () => {
    secret.hidden = true;
    shown.textContent = "";
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (form.getAttribute("aria-busy") === "true") return;
    form.setAttribute("aria-busy", "true");
    forget();
    refused.hidden = true;
    try {
      const { data } = await call("POST", "/api/v1/tokens", wanted(new FormData(form)));
      shown.textContent = data.token;
      secret.hidden = false;
      form.reset();
    } catch (error) {
      refused.textContent = reasonOf(error);
      refused.hidden = false;
    } finally {
      form.removeAttribute("aria-busy");
    }
    // The list is brought up to date by the next visit when this fails.
    await refresh().catch(() => {});
  });
  secret.querySelector("[data-forget]")?.addEventListener("click", forget);
  const copy = secret.querySelector("[data-copy]");
  copy?.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(shown.textContent ?? "");
      notify(copy instanceof HTMLElement ? copy.dataset.said ?? "" : "");
    } catch {
      // Without a clipboard, as over plain HTTP, the person copies the marked text.
      getSelection()?.selectAllChildren(shown);
    }
  });
  // A page that comes back from the browser's cache shows no secret.
  addEventListener("pagehide", forget);
}

/**
 * The token that a form asks for.
 * @param {FormData} fields
 */
function wanted(fields) {
  const days = Number(fields.get("days"));
  const ends = days > 0 ? new Date(Date.now() + days * DAY_MS).toISOString() : undefined;
  return { name: String(fields.get("name")).trim(), scope: fields.get("scope"), expires_at: ends };
}
