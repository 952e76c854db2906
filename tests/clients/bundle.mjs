// Runs the server of an unpacked .mcpb bundle as its manifest says, over the official SDK, and has one claim judged.
//
//   node bundle.mjs FOLDER        needs @modelcontextprotocol/sdk (NODE_PATH does not reach ES modules: run it where that is installed)
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import assert from "node:assert";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const folder = resolve(process.argv[2]);
const manifest = JSON.parse(readFileSync(join(folder, "manifest.json")));
// What a client puts in for its user, who has set nothing.
const filled = (text) =>
  text
    .replaceAll("${__dirname}", folder)
    .replace(/\$\{user_config\.(\w+)\}/g, (_, key) => manifest.user_config[key].default);
const { command, args, env } = manifest.server.mcp_config;
const home = mkdtempSync(join(tmpdir(), "lyra-bundle-"));
const variables = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value)]));
const client = new Client({ name: "bundle", version: "0" });
await client.connect(
  new StdioClientTransport({
    command: filled(command),
    args,
    cwd: home,
    env: { PATH: "/usr/bin:/bin", HOME: home, ...variables },
  }),
);
try {
  const { version } = client.getServerVersion();
  assert.equal(version, manifest.version);
  const call = async (name, given) => (await client.callTool({ name, arguments: given })).structuredContent;
  const claim = "A short nap improves memory.";
  const { task_id } = await call("create_task", { query: "Do naps help?", claims: [claim] });
  let status;
  do {
    ({ status } = await call("get_status", { task_id, wait: 20 }));
  } while (!["completed", "failed"].includes(status));
  assert.equal(status, "completed");
  const sql = "SELECT relation, count(*) AS n FROM edges WHERE target_type = 'claim' GROUP BY relation ORDER BY relation";
  const { rows } = await call("query_graph", { sql });
  assert(rows.some((row) => row.relation === "supports" && row.n > 0), JSON.stringify(rows));
  console.log(`lyra ${version} in the bundle: ${(await client.listTools()).tools.length} tools, edges ${JSON.stringify(rows)}`);
} finally {
  await client.close();
  rmSync(home, { recursive: true });
}
