/** Ports that browsers refuse: a start on one warns, because nothing else tells why nobody can open the page. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { blockedPortWarnings, isBlockedPort } from "../../src/app/browser-ports.ts";
import { type Config, readConfig } from "../../src/app/config.ts";
import { runCli, startProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";

const blocked = Array.from({ length: 65_536 }, (_, port) => port).filter(isBlockedPort);

function warningsOf(environment: Record<string, string>): readonly string[] {
  const config: Config = readConfig(environment);
  return blockedPortWarnings(config, `http://127.0.0.1:${config.port}`);
}

t.test("the list of ports is the one of fetch", async (t) => {
  const accepted: number[] = [];
  for (const port of blocked) {
    const cause = await fetch(`http://127.0.0.1:${port}/`, { redirect: "manual" }).then(
      () => "an answer",
      (error: Error) => (error.cause as Error).message,
    );
    if (cause !== "bad port") accepted.push(port);
  }
  // Newer in the standard than in some versions of Node.
  const newer: readonly number[] = [4190, 6679];
  const found = accepted.filter((port) => !newer.includes(port));
  t.strictSame(found, []);
  t.equal(blocked.length, 82);
});

t.test("a port that browsers refuse gets one line, unless they come through a proxy", async (t) => {
  const refused = { PORT: "6666" };
  const [line = "", ...more] = warningsOf(refused);
  t.match(line, /^Browsers refuse to connect to port 6666, .*: choose another PORT\. .* curl and Python/);
  t.strictSame(more, []);
  t.strictSame(warningsOf({ PORT: "9991" }), []);
  t.strictSame(warningsOf({ ...refused, TRUST_PROXY: "true" }), []);
  t.strictSame(warningsOf({ ...refused, SITE_URL: "https://chat.example.org" }), []);
  t.match(warningsOf({ SITE_URL: "http://chat.example.org:10080", TRUST_PROXY: "true" }), [/10080.*port in SITE_URL/]);
  t.match(warningsOf({ ADMIN_LISTEN: "127.0.0.1:6000" }), [/6000.*the operator's page.*port in ADMIN_LISTEN/]);
});

t.test("the console has the warning, and listen refuses such an address", async (t) => {
  const dataDir = join(temporaryFolder(t), "data");
  const { program, owner } = await startProgram(t, dataDir, { SITE_URL: "http://chat.example.org:6697" });
  await program.printed(/^Browsers refuse to connect to port 6697, so nobody can open the page: .*$/m);
  t.match(await owner.get("/users/me"), { status: 200 }, "it serves all the same");

  const file = join(temporaryFolder(t), "zuliprc");
  writeFileSync(file, "[api]\nemail=a@example.com\nkey=abc\nsite=http://127.0.0.1:6666\n");
  const { code, stderr } = await runCli(t, dataDir, "listen", "--zuliprc", file);
  t.equal(code, 66);
  t.match(stderr, /^colloquy: fetch refuses to connect to port 6666 of http:\/\/127\.0\.0\.1:6666: start the server/);
});
