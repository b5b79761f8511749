/** Recovery of a lost API key or password: the start reports it, and the command line sets a new one. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { Client } from "../support/client.ts";
import { Program, runCli } from "../support/process.ts";
import { readZuliprc, startTestServer, temporaryFolder } from "../support/server.ts";

t.test("a start reports a zuliprc whose key was replaced, and new-key writes a new one", async (t) => {
  const { owner, running, dataDir, stop } = await startTestServer(t);
  t.equal(running.isZuliprcGood, true);
  const { api_key: lost } = (await owner.post("/users/me/api_key/regenerate")).body;
  const bot = await owner.post("/bots", { full_name: "Bot", short_name: "bot" });
  t.equal(bot.status, 401, "the earlier key is revoked");
  await stop();

  const program = new Program(t, process.execPath, ["colloquy.mjs"], { DATA_DIR: dataDir, PORT: "0" });
  await program.printed(/zuliprc are not valid any more/);
  await program.printed(/cli -- new-key/);
  t.notMatch(program.stdout, "Try: curl");
  await program.end("SIGTERM");

  const made = await runCli(t, dataDir, "new-key", "OWNER@localhost");
  t.strictSame([made.code, made.stderr], [0, ""]);
  const { email, key, site } = readZuliprc(join(dataDir, "zuliprc"));
  t.not(key, lost);
  t.notMatch(made.stdout, key, "[S2] the key is only in the file");
  t.match(site, /^http:\/\/127\.0\.0\.1:\d+$/, "the site stays");
  const again = await startTestServer(t, { dataDir });
  t.equal(again.running.isZuliprcGood, true);
  t.equal((await new Client(again.url, { email, key, userId: 2 }).get("/users/me")).status, 200);
  t.equal((await new Client(again.url, { email, key: lost, userId: 2 }).get("/users/me")).status, 401);
});

t.test("set-password sets a password that can log in; unknown accounts and bots are rejected", async (t) => {
  const { owner, dataDir, stop } = await startTestServer(t);
  const bot = (await owner.post("/bots", { full_name: "Bot", short_name: "bot" })).body;
  const { email } = (await owner.get(`/users/${bot.user_id}`)).body.user;
  t.ok(email);
  await stop();
  const made = await runCli(t, dataDir, "set-password", "owner@localhost");
  t.strictSame([made.code, made.stderr], [0, ""]);
  const password = made.stdout.trim().split(" ").at(-1) ?? "";
  for (const [address, why] of [
    ["nobody@example.com", /there is no account nobody@example.com/],
    [email, /bots have no password/],
  ] as const) {
    const refused = await runCli(t, dataDir, "set-password", address);
    t.strictSame([refused.code, refused.stdout], [1, ""]);
    t.match(refused.stderr, why);
  }
  const again = await startTestServer(t, { dataDir });
  const logIn = (tried: string) =>
    again.owner.anonymous().post("/fetch_api_key", { username: "owner@localhost", password: tried });
  t.equal((await logIn(password)).status, 200);
  t.equal((await logIn(`${password}x`)).status, 401);
});

t.test("[D257] reset-link prints a link that sets a password once, while the server runs or not", async (t) => {
  const { dataDir, stop } = await startTestServer(t);
  await stop();
  const made = await runCli(t, dataDir, "reset-link", "owner@localhost");
  t.strictSame([made.code, made.stderr], [0, ""]);
  const again = await startTestServer(t, { dataDir });
  const renewed = await runCli(t, dataDir, "reset-link", "owner@localhost", "--json");
  t.strictSame([renewed.code, renewed.stderr], [0, ""]);
  const { link } = JSON.parse(renewed.stdout) as { link: string };
  t.ok(link.startsWith(`${again.url}/accounts/password/reset/`));
  const use = async (address: string) => {
    const body = new URLSearchParams({ password: "a new password" });
    return (await fetch(`${again.url}${new URL(address).pathname}`, { method: "POST", body })).status;
  };
  t.strictSame([await use(made.stdout.trim()), await use(link), await use(link)], [404, 200, 404]);
  const username = "owner@localhost";
  const logIn = await again.owner.anonymous().post("/fetch_api_key", { username, password: "a new password" });
  t.equal(logIn.status, 200);
});

t.test("a start reports a zuliprc that is missing or has no credentials", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startTestServer(t, { dataDir });
  await first.stop();
  writeFileSync(join(dataDir, "zuliprc"), "[api]\nemail=owner@localhost\nkey=x\nsite=http://127.0.0.1:1\n");
  const second = await startTestServer(t, { dataDir });
  t.equal(second.running.isZuliprcGood, false);
});

t.test("new-key keeps another account's credentials in zuliprc, and replaces a damaged file", async (t) => {
  const { owner, person, dataDir } = await startTestServer(t);
  const ann = await person("Ann");
  const file = join(dataDir, "zuliprc");
  const before = readZuliprc(file);
  const email = ann.account?.email ?? "";
  const refused = await runCli(t, dataDir, "new-key", email);
  t.strictSame([refused.code, refused.stdout], [1, ""]);
  t.match(refused.stderr, /the key of owner@localhost would be lost in that file, and nothing was changed/);
  t.strictSame(readZuliprc(file), before);
  t.strictSame([(await owner.get("/users/me")).status, (await ann.get("/users/me")).status], [200, 200]);

  const another = join(dataDir, "zuliprc-of-ann");
  t.equal((await runCli(t, dataDir, "new-key", email, "--zuliprc", another)).code, 0);
  t.equal(readZuliprc(another).email, email);
  t.equal((await ann.get("/users/me")).status, 401, "the earlier key is revoked");
  t.strictSame(readZuliprc(file), before);

  writeFileSync(file, "[api]\n");
  const damaged = await runCli(t, dataDir, "new-key", "owner@localhost");
  t.strictSame([damaged.code, damaged.stderr], [0, ""]);
  t.equal(readZuliprc(file).email, "owner@localhost");
  const other = join(dataDir, "no-zuliprc");
  writeFileSync(other, "something else");
  t.match(await runCli(t, dataDir, "new-key", email, "--zuliprc", other), { code: 1, stderr: /lacks email/ });
  t.equal(readFileSync(other, "utf8"), "something else");
});

t.test("after the owner's address was changed, new-key writes the new one into zuliprc", async (t) => {
  const { owner, dataDir } = await startTestServer(t);
  t.equal((await runCli(t, dataDir, "grant-can-change-user-emails", "owner@localhost")).code, 0);
  t.equal((await owner.patch("/users/2", { new_email: "eve@example.com" })).status, 200);
  const made = await runCli(t, dataDir, "new-key", "eve@example.com");
  t.strictSame([made.code, made.stderr], [0, ""]);
  t.equal(readZuliprc(join(dataDir, "zuliprc")).email, "eve@example.com");
});
