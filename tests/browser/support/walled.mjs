// A search engine that answers every request with a CAPTCHA.
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const CHALLENGE = `<title>Are you human?</title><div class="g-recaptcha"></div>`;

/** The engine, on a free port. */
export class Walled {
  static async start() {
    const walled = new Walled();
    walled.asked = 0;
    walled.server = createServer((_, answer) => {
      walled.asked += 1;
      answer.setHeader("content-type", "text/html; charset=utf-8").end(CHALLENGE);
    }).listen(0, "127.0.0.1");
    await once(walled.server, "listening");
    walled.folder = mkdtempSync(join(tmpdir(), "lyra-walled-"));
    walled.origin = `http://localhost:${walled.server.address().port}`;
    return walled;
  }

  async stop() {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
    rmSync(this.folder, { recursive: true });
  }

  /** Settings with which the web is searched by this engine alone, and what it asks for waits for years. */
  variables() {
    const [engines, domains] = [join(this.folder, "engines.yaml"), join(this.folder, "domains.yaml")];
    writeFileSync(
      engines,
      `challenges:
  - { kind: captcha, selector: .g-recaptcha }
engines:
  walled:
    url: '${this.origin}/walled?q={query}'
    category: general
    result: .result
    title: a
    snippet: p
    min_interval_ms: 0
`,
    );
    writeFileSync(domains, "default: {category: unverified, qps: 1000}\n");
    return {
      LYRA__SOURCES__WEB__ENGINES_FILE: engines,
      LYRA__SOURCES__WEB__DOMAINS_FILE: domains,
      LYRA__SOURCES__WEB__AUTH_HOURS: "100000",
      LYRA__SOURCES__WEB__TRUSTED_ORIGINS: this.origin,
    };
  }
}
