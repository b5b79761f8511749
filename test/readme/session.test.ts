/**
 * Runs the commands of README.md and docs/ as written; only the URL and the data directory are those of a test server.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import t from "tap";
import { freePort } from "../support/ports.ts";
import { privateAllowed } from "../support/receiver.ts";
import { startTestServer } from "../support/server.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** A section of a document, by its heading. */
function sectionOf(document: string, title: string): string {
  const text = readFileSync(`${root}${document}`, "utf8");
  return text.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? "";
}

/** The shell blocks of a section, in order. */
function shellBlocks(document: string, title: string): string[] {
  return [...sectionOf(document, title).matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1] ?? "");
}

function run(
  script: string,
  environment: Record<string, string>,
): Promise<{ code: number | null; output: string; errors: string }> {
  return new Promise((resolve) => {
    const child = spawn("bash", ["-euo", "pipefail", "-c", script], {
      cwd: root,
      env: { ...process.env, ...environment },
    });
    let output = "";
    child.stdout.on("data", (text: Buffer) => {
      output += text.toString();
    });
    let errors = "";
    child.stderr.on("data", (text: Buffer) => {
      errors += text.toString();
    });
    child.on("close", (code) => resolve({ code, output, errors }));
  });
}

t.test("the session: two calls, and the event arrives on the WebSocket", async (t) => {
  const server = await startTestServer(t);
  const here = (script: string) =>
    script.replaceAll("data/zuliprc", server.running.zuliprc).replaceAll("http://127.0.0.1:9991", server.url);
  const [listen, calls] = shellBlocks("README.md", "A session to paste");
  t.match(listen, /listen/);
  const listening = run(here(listen ?? "false"), { DATA_DIR: server.dataDir });
  const hub = server.running.hubOf(server.running.host.realmOf(""));
  while (hub.queueCount === 0) await new Promise((resolve) => setImmediate(resolve));

  const called = await run(here(calls ?? "false"), {});
  t.equal(called.code, 0, called.errors);
  t.match(called.output, /"subscribed":\{"2":\["kitchen"\]\}/);
  t.match(called.output, /"result":"success","msg":"","id":1/);
  const heard = await listening;
  t.equal(heard.code, 0, heard.errors);
  const event = JSON.parse(heard.output) as Record<string, unknown>;
  t.match(event, {
    type: "message",
    message: { id: 1, content: "Soup is **ready**", subject: "lunch", display_recipient: "kitchen", sender_id: 2 },
    flags: [],
    id: Number,
  });
});

t.test("the invitation and the echo bot work as pasted after the session", async (t) => {
  const server = await startTestServer(t, privateAllowed);
  const port = await freePort();
  const here = (script: string) =>
    script
      .replaceAll("data/zuliprc", server.running.zuliprc)
      .replaceAll("http://127.0.0.1:9991", server.url)
      .replaceAll("5002", String(port));
  const [, calls] = shellBlocks("README.md", "A session to paste");
  const [invitation] = shellBlocks("docs/getting-started.md", "Invite somebody");
  const [echo] = shellBlocks("docs/operations.md", "Outgoing webhooks");
  const follower = await server.owner.follow();
  const pasted = ["trap 'kill $(jobs -p)' EXIT", calls, invitation, echo, "wait"].join("\n");
  const running = spawn("bash", ["-euo", "pipefail", "-c", here(pasted)], { cwd: root });
  const output = text(running.stdout);
  const { message } = await follower.until(
    (event) => event.type === "message" && event.message.content.startsWith("Owner said"),
  );
  running.kill();
  t.match(message, { subject: "lunch", content: "Owner said: is there soup?", sender_full_name: "Echo" });
  t.match(await output, new RegExp(`"invite_link":"${server.url}/join/\\w+/"`));
});

t.test("every dependency has a line that says what it is for", async (t) => {
  const manifest = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as Record<string, Record<string, string>>;
  const table = readFileSync(`${root}docs/dependencies.md`, "utf8");
  const names = [...Object.keys(manifest["dependencies"] ?? {}), ...Object.keys(manifest["devDependencies"] ?? {})];
  for (const name of names) t.ok(table.includes(name.startsWith("@types/") ? "@types/*" : `\`${name}\``), name);
});

t.test("the table has every configuration variable that the server reads, and no other", async (t) => {
  const config = ["config", "cluster-variables"]
    .map((name) => readFileSync(`${root}src/app/${name}.ts`, "utf8"))
    .join();
  const section = sectionOf("docs/operations.md", "Configuration");
  const read = new Set([...config.matchAll(/"([A-Z][A-Z_]+)"/g)].map((match) => match[1] ?? ""));
  const received = new Set([...section.matchAll(/`([A-Z][A-Z_]+)`/g)].map((match) => match[1] ?? ""));
  t.strictSame([...received].sort(), [...read].sort());
});
