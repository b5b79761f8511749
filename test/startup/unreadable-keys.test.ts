/**
 * A row whose key cannot be read (D265), as an earlier version wrote it for one alert word: starts, backups and other
 * commands go on without it, and `check --repair` sets it aside.
 */
import { join } from "node:path";
import t, { type Test } from "tap";
import { encodeRow } from "../../src/store/codec.ts";
import { LmdbTables } from "../../src/store/lmdb-tables.ts";
import { runCli, startProgram } from "../support/process.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

const word = `${"x".repeat(70)}\u0002y`;

async function filled(t: Test): Promise<string> {
  const server = await startTestServer(t);
  t.equal((await server.owner.post("/users/me/alert_words", { alert_words: ["soup"] })).status, 200);
  await server.stop();
  const tables = new LmdbTables(join(server.dataDir, "realms", "1"));
  const key = [2, word] as const;
  tables.transaction(() => tables.write("alertWords", key, encodeRow("alertWords", key, { word })));
  await tables.close();
  return server.dataDir;
}

t.test("[D265] a row whose key cannot be read keeps no start, backup or command from its work", async (t) => {
  const dataDir = await filled(t);
  const { program, owner } = await startProgram(t, dataDir);
  t.strictSame((await owner.get("/users/me/alert_words")).body.alert_words, ["soup"]);
  const leftOut = /the row \[2,"x{70}\\u0002y"\] of table alertWords is left out: its key cannot be read\. Stop the/;
  await program.complained(/of table alertWords is left out: its key cannot be read\. Stop the server/);

  const backup = join(temporaryFolder(t), "backup");
  t.match(await runCli(t, dataDir, "backup", backup), { code: 0, stderr: leftOut });
  t.match(await runCli(t, dataDir, "backup", "--verify", backup), { code: 0, stdout: /no problems/ });
  t.match(await runCli(t, dataDir, "check"), { code: 1, stdout: leftOut });
  t.match(await runCli(t, dataDir, "check", "--repair"), { code: 75, stdout: "" }, "the server must be stopped");
  t.ok((await owner.say("general", "lunch", "soup")) > 0);
  await program.end("SIGTERM");

  t.match(await runCli(t, dataDir, "check"), { code: 1, stdout: leftOut });
  const file = join(dataDir, "realms", "1", "set-aside.jsonl");
  const repaired = `realm 1: the row [2,${JSON.stringify(word)}] of table alertWords was moved to ${file}: its key cannot be read`;
  t.match(await runCli(t, dataDir, "check", "--repair"), { code: 0, stdout: `${repaired}\nno problems\n` });
  t.match(await runCli(t, dataDir, "check", "--repair", "--json"), {
    code: 0,
    stdout: '{"repaired":[],"problems":[]}\n',
  });
  t.match(await runCli(t, dataDir, "check"), { code: 0, stdout: "no problems\n" });
});
