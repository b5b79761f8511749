/** Long work of the command line shows a progress bar on a terminal. A pseudo terminal is made by `script` (util-linux). */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { checkout, Program, runCli } from "../support/process.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

const bar = /[█░#=-]+ [12]\/2/;

function obstacle(): string | null {
  const tried = spawnSync("script", ["-qec", "true", "/dev/null"], { stdio: ["ignore", "pipe", "pipe"] });
  return tried.status === 0 ? null : "script (util-linux) is not installed, or there are no pseudo terminals";
}

t.test("a progress bar is shown on a terminal, and nowhere else", async (t) => {
  const reason = obstacle();
  if (reason !== null) {
    t.pass(`no terminal: ${reason}`, { skip: reason });
    return;
  }
  const folder = temporaryFolder(t);
  const { dataDir } = await startTestServer(t);
  const argsFor = (name: string) => {
    const file = join(folder, name);
    const lines = [1, 2].map((number) => JSON.stringify({ label: `${name}${number}`, email: "eve@example.com" }));
    writeFileSync(file, lines.join("\n"));
    return ["create-realm", "--from", file];
  };
  const onTerminal = (args: readonly string[], DATA_DIR = dataDir) => {
    const line = [process.execPath, "colloquy.mjs", ...args].join(" ");
    const environment = { DATA_DIR, TERM: "xterm" };
    return new Program(t, "script", ["-qec", line, "/dev/null"], environment, checkout).exited;
  };
  const shown = await onTerminal(argsFor("shown"));
  t.match(shown, { code: 0, stdout: bar }, "on a terminal");
  t.match(shown.stdout, /realm shown2 was created/);
  const json = await onTerminal([...argsFor("json"), "--json"]);
  t.equal(json.code, 0, json.stdout);
  t.notMatch(json.stdout, bar, "not with --json");
  const copied = await onTerminal(["backup", join(folder, "backup")]);
  t.match(copied, { code: 0, stdout: /\d+\/\d+[\s\S]*backup is at/ }, "a backup");
  t.match(await onTerminal(["check"]), { code: 0, stdout: /\d+\/\d+[\s\S]*no problems/ }, "a check");
  await onTerminal(["deactivate-realm", "shown1"]);
  const erased = await onTerminal(["erase-realm", "shown1", "--confirm", "shown1"]);
  t.match(erased, { code: 0, stdout: /\d+\/\d+[\s\S]*organization shown1 is erased/ }, "an erasure");
  const verified = await onTerminal(["backup", "--verify", join(folder, "backup")]);
  t.match(verified, { code: 0, stdout: /\d+\/\d+[\s\S]*no problems/ }, "a verification");
  const restored = await onTerminal(["restore", join(folder, "backup")], join(folder, "restored"));
  t.match(restored, { code: 0, stdout: /\d+\/\d+[\s\S]*restored to/ }, "a restore");
  const quiet = await runCli(t, join(folder, "quiet"), "restore", join(folder, "backup"));
  t.match(quiet, { code: 0, stderr: "" });
  const piped = await runCli(t, dataDir, ...argsFor("piped"));
  t.match(piped, { code: 0, stderr: "" }, "not into a pipe");
  t.notMatch(piped.stdout, bar);
});
