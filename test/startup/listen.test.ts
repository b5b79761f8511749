/** `listen` of the command line: a program on packages/client that prints events, across restarts of the server. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { Client } from "../support/client.ts";
import { freePort } from "../support/ports.ts";
import { type Exited, Program, runCli } from "../support/process.ts";
import { startTestServer, type TestServer, temporaryFolder } from "../support/server.ts";

function listening(t: Test, dataDir: string, ...args: readonly string[]): Program {
  return new Program(t, process.execPath, ["colloquy.mjs", "listen", ...args], { DATA_DIR: dataDir });
}

function queuesOf({ running }: TestServer): number {
  return running.hubOf(running.host.realmOf("")).queueCount;
}

async function untilListening(server: TestServer): Promise<void> {
  while (queuesOf(server) === 0) await new Promise((resolve) => setImmediate(resolve));
}

t.test("[E2] listen prints each event once, in order, across a restart, and ends after --count", async (t) => {
  const environment = { PORT: String(await freePort()) };
  const first = await startTestServer(t, { environment });
  const program = listening(t, first.dataDir, "message", "--count", "3");
  await untilListening(first);
  await first.owner.say("general", "soup", "one");
  await program.printed(/"content":"one"/);
  await first.stop();
  const second = await startTestServer(t, { environment, dataDir: first.dataDir });
  const owner = new Client(second.url, first.owner.account);
  for (const content of ["two", "three", "four"]) await owner.say("general", "soup", content);
  const { code, stdout, stderr } = await program.exited;
  t.equal(code, 0, stderr);
  const events = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; message: { content: string } });
  const found = events.map(({ type, message }) => [type, message.content]);
  t.strictSame(
    found,
    ["one", "two", "three"].map((content) => ["message", content]),
  );
  t.match(stderr, /^colloquy: .*it resumes in \d+ s\n/, "people are told");
  t.equal(queuesOf(second), 0, "no queue is left");
});

t.test("SIGINT ends listen in order", async (t) => {
  const server = await startTestServer(t);
  const program = listening(t, server.dataDir, "--json");
  await untilListening(server);
  await server.owner.say("general", "soup", "one");
  await program.printed(/"content":"one"/);
  t.match(await program.end("SIGINT"), { code: 0, stderr: "" });
  t.equal(queuesOf(server), 0, "no queue is left");
});

t.test("listen says in one line why it cannot", async (t) => {
  const server = await startTestServer(t);
  const wrong = join(temporaryFolder(t), "zuliprc");
  const port = await freePort();
  const nobody = join(temporaryFolder(t), "zuliprc");
  writeFileSync(wrong, `[api]\nemail=owner@localhost\nkey=${"x".repeat(32)}\nsite=${server.url}\n`);
  writeFileSync(nobody, `[api]\nemail=owner@localhost\nkey=${"x".repeat(32)}\nsite=http://127.0.0.1:${port}\n`);
  const run = (...args: readonly string[]) => runCli(t, server.dataDir, "listen", ...args);
  const isRefused = ({ code, stdout, stderr }: Exited, expected: number, why: RegExp) => {
    t.strictSame({ code, stdout }, { code: expected, stdout: "" }, stderr);
    t.match(stderr, /^colloquy: [^\n]+\n$/);
    t.match(stderr, why);
  };
  const [key, address, file, count, type] = await Promise.all([
    run("--zuliprc", wrong),
    run("--zuliprc", nobody),
    run("--zuliprc", "/no/such/file"),
    run("--count", "0"),
    run("message", "mesage"),
  ]);
  isRefused(key, 1, /Invalid API key|INVALID_API_KEY/);
  isRefused(address, 75, /no server answers at http:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED/);
  isRefused(file, 66, /\/no\/such\/file cannot be read: ENOENT/);
  isRefused(count, 64, /--count/);
  isRefused(type, 64, /'mesage' is invalid .* Allowed choices are .*\bmessage\b/);
});
