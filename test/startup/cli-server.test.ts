/**
 * The command line and whatever it finds where a server should be: none, a killed one, one of another version, one that
 * ends meanwhile, another command. Each command is a real process.
 */
import { readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { adminSocket } from "../../src/operate/admin/listener.ts";
import { HostClient } from "../support/http.ts";
import { type Exited, Program, runCli, startProgram } from "../support/process.ts";
import { startTestServer, type Teardown, temporaryFolder } from "../support/server.ts";

/** Checks for one line on stderr, and the exit code of docs/operations.md. */
function ended(t: Test, { code, stdout, stderr }: Exited, expected: number, why: RegExp, what: string): void {
  t.strictSame({ code, stdout }, { code: expected, stdout: "" }, what);
  t.match(stderr, /^colloquy: [^\n]+\n$/, what);
  t.match(stderr, why, what);
}

/** A data folder of a server that was stopped. */
async function stoppedFolder(t: Test): Promise<string> {
  const { dataDir, stop } = await startTestServer(t);
  await stop();
  return dataDir;
}

/** Something else than this program's server at the admin socket. */
async function standIn(t: Teardown, dataDir: string, answer: (end: (text: string, status?: number) => void) => void) {
  const server = createServer((request, response) => {
    request.resume().on("end", () =>
      answer((text, status = 200) => {
        response.writeHead(status);
        if (text === "") response.destroy();
        else response.end(text);
      }),
    );
  });
  await new Promise<void>((done) => server.listen(adminSocket(dataDir), done));
  const close = () => new Promise((done) => server.close(done));
  t.teardown(close);
  return close;
}

t.test("wrong use is one line, exit code 64, and nothing is changed", async (t) => {
  const dataDir = await stoppedFolder(t);
  const cases = [
    [["no-such-command"], /unknown command/],
    [["status", "--no-such-flag"], /unknown option/],
    [["create-user"], /missing required argument/],
    [["set-role", "owner@localhost", "king"], /one of owner/],
    [["create-realm", "x", "--from", "y"], /not both/],
    [["create-realm", "x"], /--email is missing/],
    [["dead-letters", "retry", "x"], /is not an id/],
    [["restore", "x", "--to", "yesterday"], /is not a time/],
  ] as const;
  const ran = await Promise.all(cases.map(([args]) => runCli(t, dataDir, ...args)));
  for (const [index, exited] of ran.entries()) {
    const [args, why] = cases[index] ?? [[], /x/];
    ended(t, exited, 64, why, args.join(" "));
  }
  t.strictSame(readdirSync(join(dataDir, "realms")), ["1"]);
});

t.test("files: unreadable ones, secrets, lines that are not JSON", async (t) => {
  const dataDir = await stoppedFolder(t);
  const folder = temporaryFolder(t);
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const set = (path: string) => runCli(t, dataDir, "set-password", "owner@localhost", "--password-file", path);
  const create = (path: string, ...more: string[]) => runCli(t, dataDir, "create-realm", "--from", path, ...more);
  ended(t, await set(join(folder, "missing")), 66, /missing cannot be read: ENOENT/, "missing");
  ended(t, await set(folder), 66, /cannot be read: EISDIR/, "a folder");
  ended(t, await set(file("empty", "\nx\n")), 66, /no secret in its first line/, "empty");
  ended(t, await set(file("short", "short\n")), 64, /password/, "short");
  t.match(await set(file("good", "correct horse\n")), { code: 0, stdout: "the password of owner@localhost is set\n" });
  ended(
    t,
    await create(file("bad", '{"label":"a","email":"a@b.c"}\n{"label"\n')),
    66,
    /line 2 is not JSON/,
    "not JSON",
  );
  ended(t, await create(file("worse", '{"label":"A","email":"a@b.c"}\n')), 64, /lower-case/, "a label");
  const two = file("two", '{"label":"a","email":"a@b.c"}\n\n{"label":"b","email":"a@b.c","name":"B"}\n');
  const made = await create(two, "--json");
  t.match(JSON.parse(made.stdout), { created: [{ label: "a" }, { label: "b" }], skipped: 0 });
  ended(t, await create(two), 1, /already exists/, "again");
  t.match(await create(two, "--skip-existing"), { code: 0, stdout: "2 existed already\n" });
});

t.test("another process at the socket is named, and nothing is done", async (t) => {
  const dataDir = await stoppedFolder(t);
  const status = () => runCli(t, dataDir, "status");
  const cases = [
    [["no such page", 404], 78, /another version/],
    [['{"error":{"kind":"unusable","message":"the server\\nruns 9"}}\n', 500], 78, /the server runs 9/],
    [["hello", 200], 78, /does not answer as Colloquy/],
    [['{"progress":{"done":1,"total":2}}\n', 200], 75, /the server ended before it answered/],
    [["", 200], 75, /the server ended before it answered/],
  ] as const;
  for (const [[text, code], expected, why] of cases) {
    const close = await standIn(t, dataDir, (end) => end(text, code));
    ended(t, await status(), expected, why, text);
    await close();
  }
  t.match(await status(), { code: 0, stdout: /the server is stopped/ });
});

t.test("commands at the same time wait for each other", async (t) => {
  const dataDir = await stoppedFolder(t);
  const names = ["ann", "bob", "cem"];
  // On a slow machine one may wait in vain, but not less than the bound: then it is run again.
  const create = async (name: string): Promise<Exited> => {
    const begunAt = performance.now();
    const exited = await runCli(t, dataDir, "create-user", `${name}@example.com`, name);
    const hasWaited = performance.now() - begunAt >= limits.admin_wait_ms_max;
    return exited.code === 75 && hasWaited ? create(name) : exited;
  };
  const made = await Promise.all(names.map(create));
  const found = made.map(({ code, stderr }) => [code, stderr]);
  t.strictSame(found, [
    [0, ""],
    [0, ""],
    [0, ""],
  ]);
  const { users } = JSON.parse((await runCli(t, dataDir, "list-users", "--json")).stdout) as { users: object[] };
  t.equal(users.length, 4);
});

t.test("a server without an admin listener is named, and keeps its folder", async (t) => {
  const dataDir = temporaryFolder(t);
  const { program } = await startProgram(t, dataDir, { ADMIN_LISTEN: "none" });
  const exited = await runCli(t, dataDir, "list-realms");
  ended(t, exited, 75, new RegExp(`process ${program.pid} is running .* set ADMIN_LISTEN`), "none");
});

/** Creates 40 organizations, and kills the server amid them. null: a slow test was too late, and all were made. */
async function killAmidOrganizations(t: Test, dataDir: string, file: string) {
  const { program } = await startProgram(t, dataDir);
  const args = ["colloquy.mjs", "create-realm", "--from", file];
  const cli = new Program(t, process.execPath, args, { DATA_DIR: dataDir });
  const made = () => readdirSync(join(dataDir, "realms")).filter((name) => /^\d+$/.test(name)).length;
  while (made() < 5) await new Promise((done) => setImmediate(done));
  await program.end("SIGKILL");
  const exited = await cli.exited;
  return exited.code === 0 ? null : { exited, before: made() };
}

t.test(
  "[M1] a server that is killed while it creates organizations leaves whole ones, the rest for later",
  async (t) => {
    const labels = Array.from({ length: 40 }, (_, index) => `r${index}`);
    const file = join(temporaryFolder(t), "realms");
    writeFileSync(file, labels.map((label) => JSON.stringify({ label, email: "eve@example.com" })).join("\n"));
    let dataDir = temporaryFolder(t);
    let killed = await killAmidOrganizations(t, dataDir, file);
    while (killed === null) {
      dataDir = temporaryFolder(t);
      killed = await killAmidOrganizations(t, dataDir, file);
    }
    const { exited, before } = killed;
    ended(t, exited, 75, /the server ended before it answered: look whether create-realms was done/, "killed");
    const again = await runCli(t, dataDir, "create-realm", "--from", file, "--skip-existing", "--json");
    t.equal(again.code, 0);
    t.match(again.stderr, /^(?:colloquy: the root did not list [^\n]+\n)?$/, "one was on disk and not listed yet");
    t.equal(JSON.parse(again.stdout).created.length, 41 - before);
    const { owner } = await startTestServer(t, { dataDir });
    for (const label of labels) {
      const { body } = await new HostClient(owner, `${label}.example.org`).anonymous().get("/server_settings");
      t.equal(body.realm_name, label);
    }
  },
);
