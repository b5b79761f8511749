/**
 * Backups that are trusted (docs/operations.md): manifests, verification, tar files, rotation and schedule, and a check
 * beside a running server. Commands are real processes.
 */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { BadConfig, readConfig } from "../../src/app/config.ts";
import { BackupSchedule, isCronPattern, runBackupProcess } from "../../src/operate/backup-schedule.ts";
import { openLmdb } from "../../src/store/lmdb.ts";
import { askAdmin, sampleIn } from "../support/admin.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { type Exited, Program, runCli } from "../support/process.ts";
import { until } from "../support/realtime.ts";
import { startTestServer, temporaryFolder } from "../support/server.ts";

const inShell = (t: Test, dataDir: string, line: string) =>
  new Program(t, "/bin/sh", ["-c", line], { DATA_DIR: dataDir }).exited;

function failed(t: Test, { code, stderr }: Exited, expected: number, why: RegExp): void {
  t.equal(code, expected);
  t.match(stderr, /^colloquy: [^\n]+\n$/);
  t.match(stderr, why);
}

/** A server with a message and an uploaded file. */
async function filledServer(t: Test) {
  const server = await startTestServer(t);
  const id = await server.owner.say("general", "kept", "here to stay");
  return { server, id };
}

t.test("a backup is verified years later, and a restore says what it revives", async (t) => {
  const { server, id } = await filledServer(t);
  const folder = join(temporaryFolder(t), "backup");
  t.match(await runCli(t, server.dataDir, "backup", folder), {
    code: 0,
    stdout: `backup is at ${folder}\n`,
    stderr: "",
  });
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  t.match(manifest, { format: "colloquy-1", realms: [{ id: 1, label: "", name: "Colloquy", users: 2, messages: id }] });
  t.ok(manifest.files.some(({ path }: { path: string }) => path === "realms/1/data.mdb"));

  const verify = (...more: string[]) => runCli(t, server.dataDir, "backup", "--verify", folder, ...more);
  const lines =
    /^made at .*\norganization \(first\) \(Colloquy\): 2 users, \d+ messages, 0 files, up to .*\ntogether 1 /;
  t.match(await verify(), { code: 0, stdout: lines });
  t.match(JSON.parse((await verify("--json")).stdout), { problems: [], realms: [{ messages: id }] });
  t.notOk(existsSync(join(folder, "root", "lock.mdb")), "verifying leaves nothing behind");

  const copy = join(temporaryFolder(t), "copy");
  const restored = await runCli(t, copy, "restore", folder);
  t.match(restored, {
    code: 0,
    stdout: /^restored to .*\norganization \(first\) .* up to 20.*Z\ntogether 1 organizations/,
  });
  t.notOk(existsSync(join(copy, "manifest.json")));

  appendFileSync(join(folder, "zuliprc"), "x");
  writeFileSync(join(folder, "stranger"), "x");
  const damaged = await verify();
  t.match(damaged.stdout, /stranger is not in the manifest\nzuliprc differs from the manifest\n$/);
  failed(t, damaged, 1, /2 problems/);
  const other = join(temporaryFolder(t), "other");
  failed(
    t,
    await runCli(t, other, "restore", folder),
    1,
    /is damaged: .* \(and 1 more differences\)\. Use another backup/,
  );
  t.notOk(existsSync(other));
});

t.test("a tar file, also through a pipe, is as good as a folder", async (t) => {
  const { server, id } = await filledServer(t);
  const { dataDir } = server;
  const folder = temporaryFolder(t);
  const [file, piped] = [join(folder, "one.tar"), join(folder, "two.tar")];
  t.match(await runCli(t, dataDir, "backup", "--output", file), { code: 0, stdout: `backup is at ${file}\n` });
  failed(t, await runCli(t, dataDir, "backup", "--output", file), 73, /exists already/);
  t.match(await inShell(t, dataDir, `node colloquy.mjs backup --output - > '${piped}'`), { code: 0, stderr: "" });
  t.strictSame(readdirSync(folder), ["one.tar", "two.tar"], "the draft is gone");
  const found = readdirSync(dataDir).filter((name) => name.startsWith("copy-"));
  t.strictSame(found, []);
  t.match(await runCli(t, dataDir, "backup", "--verify", file), { code: 0, stdout: /no problems\n$/ });
  const copy = join(temporaryFolder(t), "copy");
  t.match(await inShell(t, copy, `cat '${piped}' | node colloquy.mjs restore -`), { code: 0, stdout: /^restored to / });
  const second = await startTestServer(t, { dataDir: copy });
  t.equal((await second.owner.get(`/messages/${id}`)).body.raw_content, "here to stay");
  writeFileSync(file, readFileSync(piped).subarray(0, 30_000));
  failed(t, await runCli(t, join(folder, "x"), "restore", file), 66, /cannot be unpacked/);
  t.notOk(existsSync(join(folder, "x")));
  failed(t, await runCli(t, dataDir, "backup", "x", "--output", "y"), 64, /--output or --verify/);
  failed(t, await runCli(t, dataDir, "backup"), 64, /BACKUP_DIR/);
});

t.test("BACKUP_DIR keeps the newest backups, and its metric says when the last one was made", async (t) => {
  const { server } = await filledServer(t);
  const backupDir = temporaryFolder(t);
  for (const name of ["2020-01-01T00-00-00Z", "2020-01-02T00-00-00Z", "partial-2020-01-03T00-00-00Z", "mine"])
    mkdirSync(join(backupDir, name));
  const metric = async () =>
    sampleIn((await askAdmin(server.dataDir, "/metrics")).body, "colloquy_backup_last_success_timestamp_seconds");
  t.equal(await metric(), 0);
  const lines: object[] = [];
  const log = { info: (fields: object) => lines.push(fields), error: (fields: object) => lines.push(fields) };
  const environment = { DATA_DIR: server.dataDir, BACKUP_DIR: backupDir, BACKUP_KEEP: "2" };
  const before = Date.now() / 1000;
  await runBackupProcess({ environment, log });
  t.match(lines, [{ output: /^backup is at .*Z$/ }]);
  const kept = readdirSync(backupDir);
  t.match(kept, ["2020-01-02T00-00-00Z", /^20\d\d-/, "mine"], "without what was killed");
  t.equal(kept.length, 3);
  t.ok(((await metric()) ?? 0) >= before);
  rmSync(backupDir, { recursive: true });
  await runBackupProcess({ environment, log });
  t.match(lines[1], { code: 73, why: /BACKUP_DIR=.* does not exist/ });
});

t.test("a schedule makes one backup at each time, and skips those that it missed", async (t) => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const runs: (() => void)[] = [];
  const schedule = new BackupSchedule({
    // The hours of all time zones begin at a quarter of an hour.
    pattern: "*/15 * * * *",
    clock,
    run: () => new Promise((done) => runs.push(done)),
  });
  const turn = () => new Promise((done) => setImmediate(done));
  clock.advance(14 * 60_000);
  t.equal(runs.length, 0);
  clock.advance(60_000);
  t.equal(runs.length, 1);
  clock.advance(40 * 60_000);
  t.equal(runs.length, 1, "one at a time");
  runs[0]?.();
  await turn();
  clock.advance(5 * 60_000);
  t.equal(runs.length, 2);
  runs[1]?.();
  await turn();
  schedule.end();
  clock.advance(60 * 60_000);
  t.equal(runs.length, 2);
  for (const good of ["30 3 * * *", "0 0 1 * *", "@daily"]) t.ok(isCronPattern(good), good);
  for (const bad of ["", "x", "61 * * * *", "0 0 30 2 *"]) t.notOk(isCronPattern(bad), bad);
  t.throws(() => readConfig({ BACKUP_SCHEDULE: "x", BACKUP_DIR: "b" }), BadConfig);
  t.throws(() => readConfig({ BACKUP_SCHEDULE: "@daily" }), BadConfig);
});

t.test("[M2] check finds a lost index entry while the server runs, and disturbs nothing", async (t) => {
  const { server, id } = await filledServer(t);
  const { dataDir } = server;
  t.match(await runCli(t, dataDir, "check"), { code: 0, stdout: "no problems\n", stderr: "" });
  await until(() => server.realm.isStored);
  const lmdb = openLmdb(join(dataDir, "realms", "1"));
  lmdb.transaction(() => lmdb.remove("channelMessages", [1, id]));
  await lmdb.close();
  const found = await runCli(t, dataDir, "check", "--json");
  t.equal(found.code, 1);
  t.match(JSON.parse(found.stdout).problems, [new RegExp(`message ${id} is not in its channel`), String]);
  const seen = readdirSync(dataDir).filter((name) => name.startsWith("copy-"));
  t.strictSame(seen, []);
  t.ok((await server.owner.say("general", "kept", "still here")) > id);
});
