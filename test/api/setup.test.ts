/** The first run in a browser (D285): a link that names the organization and claims the owner's account, once. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { readZuliprc } from "../../src/operate/zuliprc.ts";
import { hashApiKey } from "../../src/operations/identity/authentication.ts";
import { Client } from "../support/client.ts";
import { Page } from "../support/page.ts";
import { runCli } from "../support/process.ts";
import { startTestServer, type Teardown, type TestServer, temporaryFolder } from "../support/server.ts";

/** A server of which nobody has chosen the owner's password, and the path of its link. */
async function newServer(t: Teardown) {
  const dataDir = join(temporaryFolder(t), "data");
  const server = await startTestServer(t, { dataDir });
  const secret = server.realm.view.row("setup", "owner")?.secret ?? "";
  return { server, dataDir, path: `/setup/${secret}` };
}

const entries = {
  name: "Acme",
  full_name: "Ann Ames",
  email: "ann@example.com",
  password: "correct horse",
  channels: "announcements\r\n# projects\r\n\r\n",
};

function send({ url }: TestServer, path: string, changed: Partial<typeof entries> = {}, headers = {}) {
  const body = new URLSearchParams({ ...entries, ...changed });
  return fetch(`${url}${path}`, { method: "POST", redirect: "manual", headers, body });
}

t.test(
  "[D285] the setup link names the organization, claims the owner and leads into a topic about topics",
  async (t) => {
    const { server, dataDir, path } = await newServer(t);
    const { url } = server;
    const form = await fetch(`${url}${path}`);
    t.equal(form.status, 200);
    t.match(await form.text(), /Set up your organization/);
    const done = await send(server, path);
    t.equal(done.status, 302);
    t.equal(done.headers.get("location"), "/#narrow/channel/1-general/topic/welcome");
    const page = new Page(url);
    page.take(done.headers);
    t.match((await page.get("/session")).body, { full_name: "Ann Ames", email: "ann@example.com" });
    t.equal((await page.get("/server_settings")).body.realm_name, "Acme");

    const { email, key } = readZuliprc(join(dataDir, "zuliprc"));
    t.equal(email, "ann@example.com", "programs go on with the file");
    const owner = new Client(url, { userId: 2, email, key });
    const { subscriptions } = (await owner.get("/users/me/subscriptions")).body;
    const names = subscriptions.map(({ name }: { name: string }) => name).sort();
    t.strictSame(names, ["announcements", "general", "projects"]);
    const { streams } = (await owner.get("/streams", { include_default: true })).body;
    t.ok(
      streams.every(({ is_default: isDefault }: { is_default: boolean }) => isDefault),
      "people who join later are in the channels",
    );
    t.match(await owner.register({ fetch_event_types: ["user_settings"] }), { user_settings: { enter_sends: true } });
    const newest = { anchor: "newest", num_before: 10, num_after: 0 };
    const { messages } = (await owner.get("/messages", { ...newest, narrow: '[["topic","welcome"]]' })).body;
    t.equal(messages.length, 3);
    t.match(messages[0], { sender_full_name: "Notification Bot", display_recipient: "general" });
  },
);

t.test("[D285] the link works once: a form that was sent twice logs in again, any other is told so", async (t) => {
  const { server, path } = await newServer(t);
  const both = await Promise.all([send(server, path), send(server, path)]);
  t.strictSame(
    both.map(({ status }) => status),
    [302, 302],
  );
  t.equal((await send(server, path, { password: "another horse" })).status, 404);
  t.equal((await fetch(`${server.url}${path}`)).status, 404);
  const { body } = await server.owner.get("/messages", { anchor: "newest", num_before: 10, num_after: 0 });
  t.equal(body.messages?.length ?? 0, 0, "the former address is gone");
});

t.test("[D285] bad entries are explained, keep what was typed, and change nothing", async (t) => {
  const { server, path } = await newServer(t);
  const long = (count: number) => "x".repeat(count);
  for (const [changed, problem] of [
    [{ name: " " }, /Enter a name for the organization/],
    [{ name: long(limits.realm_name_code_points_max + 1) }, /too long/],
    [{ name: "A\u0007" }, /Invalid character/],
    [{ name: "\u202e" }, /Invalid character/],
    [{ full_name: "" }, /Enter your name/],
    [{ full_name: "Notification Bot|1" }, /cannot end/],
    [{ email: "ann" }, /valid email address/],
    [{ email: "notification-bot@colloquy.invalid" }, /already in use/],
    [{ password: long(limits.password_code_points_min - 1) }, /too weak/],
    [{ channels: "a\nb\nc\nd" }, /at most 3 channels/],
    [{ channels: long(limits.channel_name_code_points_max + 1) }, /too long/],
  ] as const) {
    const refused = await send(server, path, changed);
    const text = await refused.text();
    t.equal(refused.status, 400, JSON.stringify(changed));
    t.match(text, problem);
    t.match(text, `value="${"full_name" in changed ? changed.full_name : "Ann Ames"}"`);
  }
  const { view } = server.realm;
  t.match(view.users.get(2), { fullName: "Owner", email: "owner@localhost" });
  t.not(view.row("setup", "owner"), undefined, "the link still works");
  t.equal((await send(server, `${path.slice(0, -1)}!`)).status, 404, "another secret");
  t.equal((await send(server, path, {}, { "Sec-Fetch-Site": "cross-site" })).status, 403);
  t.equal((await send(server, path, { name: "A".repeat(limits.realm_name_code_points_max) })).status, 302);
});

t.test("[D285] the log-in page learns whether the organization waits, until a password is chosen", async (t) => {
  const { server, dataDir, path } = await newServer(t);
  const isWaiting = async () => {
    const { status, headers } = await fetch(`${server.url}/setup/`, { method: "HEAD", redirect: "manual" });
    if (status !== 200) t.strictSame([status, headers.get("location")], [302, "/"]);
    return status === 200;
  };
  t.equal(await isWaiting(), true);
  await server.owner.post("/users", { email: "ben@example.com", full_name: "Ben", password: "correct horse" });
  t.equal(await isWaiting(), false, "Ben can log in");
  const shown = await runCli(t, dataDir, "setup-link");
  t.equal(new URL(shown.stdout.trim()).pathname, path);
  t.equal((await runCli(t, dataDir, "set-password", "owner@localhost")).code, 0);
  t.equal(await isWaiting(), false);
  t.equal((await send(server, path)).status, 404);
  t.match((await runCli(t, dataDir, "setup-link")).stderr, /this organization is set up/);
});

t.test("[S2] nobody but the link's holder sees its secret", async (t) => {
  const { server, dataDir, path } = await newServer(t);
  const secret = path.slice("/setup/".length);
  for (const other of ["/setup/", "/"]) t.notMatch(await (await fetch(`${server.url}${other}`)).text(), secret);
  t.notMatch(readFileSync(join(dataDir, "zuliprc"), "utf8"), secret);
});

t.test("[D257, D274] a setup ends links that set a password, and a deactivated owner ends the setup", async (t) => {
  const { server, path } = await newServer(t);
  const keyHash = hashApiKey("key");
  const made = { email: "owner@localhost", keyHash };
  await server.realm.dispatcher.ask(command({ actor: "realm" }, "password.reset-link", made, null));
  t.equal((await send(server, path, { email: "owner@localhost" })).status, 302);
  t.equal((await fetch(`${server.url}/accounts/password/reset/key`)).status, 404);

  const other = await newServer(t);
  const second = await other.server.user("second", roles.owner);
  t.equal((await second.delete("/users/2")).status, 200);
  t.equal((await second.post("/users/2/reactivate")).status, 200);
  t.equal((await send(other.server, other.path)).status, 404);
});
