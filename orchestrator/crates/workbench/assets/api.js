// @ts-check
// The JSON API: one function, and the error that it throws.

/** Why a call failed, as the server says it (RFC 9457). */
export class Problem extends Error {
  /**
   * @param {number} status HTTP status; 0 when the server did not answer.
   * @param {string} title
   * @param {string} [hint] What would be right.
   */
  constructor(status, title, hint) {
    super(title);
    this.status = status;
    this.hint = hint;
  }
}

/**
 * Why something failed, and what would be right.
 * @param {unknown} error
 */
export function reasonOf(error) {
  const hint = error instanceof Problem && error.hint ? ` ${error.hint}` : "";
  return (error instanceof Error ? error.message : String(error)) + hint;
}

/**
 * Calls the API and answers with its JSON, and with the address of what was created.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body] Sent as JSON; a Blob is sent as it is.
 * @returns {Promise<{data: any, location: string | null}>}
 */
export async function call(method, path, body) {
  /** @type {Record<string, string>} */
  const headers = { accept: "application/json" };
  const raw = body instanceof Blob;
  if (body !== undefined && !raw) headers["content-type"] = "application/json";
  if (method !== "GET") headers["idempotency-key"] = crypto.randomUUID();
  let answer;
  try {
    const sent = raw ? body : body === undefined ? undefined : JSON.stringify(body);
    answer = await fetch(path, { method, headers, body: sent, credentials: "same-origin" });
  } catch {
    throw new Problem(0, text("offline"));
  }
  // On the page to sign in, the token that was sent is wrong: the form stays, and says so.
  if (answer.status === 401 && location.pathname !== "/login") {
    location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
  }
  const data = answer.headers.get("content-type")?.includes("json") ? await answer.json() : null;
  if (!answer.ok) throw new Problem(answer.status, data?.detail ?? data?.title ?? text("failed"), data?.hint);
  return { data, location: answer.headers.get("location") };
}

/**
 * A text of the page's language, which the server put into the page.
 * @param {string} name
 */
export function text(name) {
  const texts = document.getElementById("texts");
  return texts?.dataset[name] ?? name;
}
