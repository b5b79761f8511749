/**
 * Several organizations in one process (D4, S1): they have the same emails, ids and names, and neither can read, change
 * or detect the other's data. test/startup/cli.test.ts tests how the second one is created.
 */
import { join } from "node:path";
import t from "tap";
import { Client, expects, outcome, refusal, success } from "../support/client.ts";
import { exchange, HostClient } from "../support/http.ts";
import { picture, upload } from "../support/pictures.ts";
import { runCli } from "../support/process.ts";
import { readZuliprc, startTestServer, temporaryFolder } from "../support/server.ts";
import { Socket } from "../support/socket.ts";

const dataDir = temporaryFolder(t);
await (await startTestServer(t, { dataDir })).stop();
// Both owners have the same email, so only the realm distinguishes them.
const made = await runCli(t, dataDir, "create-realm", "sales", "--email", "owner@localhost", "--name", "Sales");
const salesHost = "sales.example.org";
const { email, key } = readZuliprc(join(dataDir, "zuliprc.sales"));

/** The owner of the second realm. */
function salesOwner(url: string): HostClient {
  return new HostClient(new Client(url, { email, key, userId: 2 }), salesHost);
}

const limited = await startTestServer(t, { dataDir, environment: { RATE_LIMITS: "api=2/3600" } });
const statusOf = async (who: Client) => (await who.get("/users/me")).status;
const ownStatuses = [await statusOf(limited.owner), await statusOf(limited.owner), await statusOf(limited.owner)];
const salesStatus = await statusOf(salesOwner(limited.url));
await limited.stop();

const server = await startTestServer(t, { dataDir });
const first = server.owner;
const sales = salesOwner(server.url);

t.test("[D28] request limits count per organization and user", async (t) => {
  t.equal(made.code, 0, made.stderr);
  t.strictSame(ownStatuses, [200, 200, 429]);
  t.equal(salesStatus, 200, "the same user id, another bucket");
});

const invalidKey = refusal("Invalid API key", "INVALID_API_KEY", 401);

/** An account in the second realm, with the email that `server.person` creates in the first. */
async function personInSales(name: string): Promise<HostClient> {
  const address = `${name.toLowerCase()}@example.com`;
  const password = `the other ${name}'s`;
  await sales.post("/users", { email: address, password, full_name: name });
  const { body } = await sales.anonymous().post("/fetch_api_key", { username: address, password });
  const account = { email: address, key: body.api_key, userId: body.user_id };
  return new HostClient(new Client(server.url, account), salesHost);
}

t.test("[D4] the Host selects the organization, with or without credentials", async (t) => {
  const nameOf = async (client: Client) => (await client.get("/server_settings")).body.realm_name;
  t.equal(await nameOf(first.anonymous()), "Colloquy");
  t.equal(await nameOf(sales.anonymous()), "Sales");
  t.equal((await first.get("/users/me")).body.email, (await sales.get("/users/me")).body.email);
});

t.test("[D4] a host in upper case, with a port or with a trailing dot selects the same organization", async (t) => {
  for (const host of ["SALES.example.org", `${salesHost}:9991`, `${salesHost}.`, `${salesHost}.:9991`]) {
    const { body } = await new HostClient(sales, host).get("/server_settings");
    t.equal(body.realm_name, "Sales", host);
    const socket = new Socket(server.url, { headers: { Host: host } });
    await socket.opened();
    const reply = await socket.ask({ type: "authenticate", email, api_key: key });
    t.equal(reply.realm_name, "Sales", host);
    socket.terminate();
  }
  t.equal((await new HostClient(sales, "sales.").get("/server_settings")).body.realm_name, "Colloquy", "no name");
});

t.test("[S1] a key of one organization is invalid in the other, even with the same email and user id", async (t) => {
  for (const path of ["/users/me", "/users", "/streams", "/users/me/subscriptions", "/messages/1"]) {
    await expects(t, new HostClient(first, salesHost).get(path), invalidKey, path);
    await expects(t, new Client(server.url, sales.account).get(path), invalidKey, path);
  }
  const posted = await new HostClient(first, salesHost).post("/messages", { type: "direct", to: [2], content: "x" });
  t.strictSame(outcome(posted), invalidKey);
  const socket = new Socket(server.url, { as: first, headers: { Host: salesHost } });
  await t.rejects(socket.opened(), /401/);
});

t.test("[S1] passwords belong to one organization, too", async (t) => {
  await server.person("Nina");
  const nina = await personInSales("Nina");
  const logIn = (client: Client, password: string) =>
    client.anonymous().post("/fetch_api_key", { username: "nina@example.com", password });
  const wrong = refusal("Your username or password is incorrect", "AUTHENTICATION_FAILED", 401);
  t.equal((await logIn(first, "correct horse battery")).status, 200);
  await expects(t, logIn(first, "the other Nina's"), wrong);
  await expects(t, logIn(sales, "correct horse battery"), wrong);
  t.equal((await logIn(sales, "the other Nina's")).body.user_id, nina.userId);
});

t.test("[S1] users of the other organization are unknown", async (t) => {
  const before = (await sales.get("/users")).body.members.length;
  const olga = await server.person("Olga");
  t.equal((await sales.get("/users")).body.members.length, before);
  t.strictSame((await sales.get("/users", { user_ids: [olga.userId + 500] })).body.members, []);
  const sent = await sales.post("/messages", { type: "direct", to: ["olga@example.com"], content: "hello?" });
  t.strictSame(outcome(sent), refusal("Invalid email 'olga@example.com'"));
  const twin = await personInSales("Olga");
  t.equal((await olga.get("/users/me")).body.full_name, "Olga", "the email is free there");
  await expects(t, sales.delete(`/users/${twin.userId}`), success());
  t.equal((await olga.get("/users/me")).status, 200, "and deactivating that account does not affect this one");
});

t.test("[S1] message ids belong to one organization, and the other's messages cannot be read", async (t) => {
  const inFirst = await first.say("general", "secret plans", "only for the first");
  const inSales = await sales.say("general", "secret plans", "only for sales");
  const read = async (client: Client, id: number) => (await client.get(`/messages/${id}`)).body.raw_content;
  t.equal(await read(first, inFirst), "only for the first");
  t.equal(await read(sales, inSales), "only for sales");
  for (let id = 1; id <= Math.max(inFirst, inSales); id++) {
    t.not(await read(sales, id), "only for the first");
    t.not(await read(first, id), "only for sales");
  }
  const beyond = Math.max(inFirst, inSales) + 1;
  for (let count = inSales; count < beyond; count++) await first.say("general", "more", "x");
  await expects(t, sales.get(`/messages/${beyond}`), "Invalid message(s)");
  const { body } = await sales.get("/messages", { anchor: "oldest", num_before: 0, num_after: 5000 });
  t.notMatch(JSON.stringify(body), /only for the first/);
  const found = await sales.get("/messages", { message_ids: [beyond] });
  t.strictSame(found.body.messages, []);
});

t.test("[spec 2.9, D34] sender_realm_str is the organization's label, empty for the first one", async (t) => {
  for (const [client, label] of [
    [first, ""],
    [sales, "sales"],
  ] as const) {
    const follower = await client.follow();
    const id = await client.say("general", "labels", "x");
    const event = await follower.until(({ message }) => message?.id === id);
    const { body } = await client.get("/messages", { message_ids: [id] });
    const single = (await client.get(`/messages/${id}`)).body.message;
    for (const message of [event.message, body.messages[0], single]) t.equal(message.sender_realm_str, label);
  }
});

t.test("[S1] channels with one name in two organizations are two channels", async (t) => {
  const create = (client: Client) => client.post("/channels/create", { name: "launch", subscribers: [2] });
  t.equal((await create(first)).status, 200);
  t.equal((await create(first)).status, 409);
  const other = await create(sales);
  t.equal(other.status, 200, "the name is not taken there");
  await first.say("launch", "go", "from the first");
  const narrow = [{ operator: "channel", operand: "launch" }];
  const { body } = await sales.get("/messages", { anchor: "newest", num_before: 10, num_after: 0, narrow });
  t.strictSame(body.messages, []);
  t.equal((await first.post("/streams/1/delete_topic", { topic_name: "x" })).status, 200);
});

t.test("[S1] a queue of one organization is unknown in the other and receives none of its events", async (t) => {
  const mine = await first.follow();
  const theirs = await sales.follow();
  t.not(mine.state.queue_id.split("-")[0], theirs.state.queue_id.split("-")[0], "[E1] the epochs differ");
  for (const [client, queue] of [
    [sales, mine],
    [first, theirs],
  ] as const) {
    const { queue_id } = queue.state;
    const gone = refusal(`Bad event queue ID: ${queue_id}`, "BAD_EVENT_QUEUE_ID", 400, { queue_id });
    await expects(t, client.get("/events", { queue_id, last_event_id: -1, dont_block: true }), gone);
    await expects(t, client.delete("/events", { queue_id }), gone);
  }
  await first.say("general", "events", "heard here");
  await first.post("/users/me/presence", { status: "active" });
  await first.post("/channels/create", { name: "only here", subscribers: [2] });
  await server.person("Paula");
  await first.post("/typing", { type: "channel", op: "start", stream_id: 1, topic: "events" });
  await sales.say("general", "events", "heard there");
  await mine.until((event) => event.message?.content === "heard here");
  await theirs.until((event) => event.message?.content === "heard there");
  const seen = JSON.stringify(await theirs.settled());
  t.notMatch(seen, /heard here|only here|Paula|typing|presence/);
  t.notMatch(JSON.stringify(await mine.settled()), /heard there/);
});

t.test("[S1] a socket belongs to the organization of its Host", async (t) => {
  const mine = new Socket(server.url, { as: first });
  const theirs = new Socket(server.url, { as: sales, headers: { Host: salesHost } });
  await Promise.all([mine.opened(), theirs.opened()]);
  const register = { type: "register", event_types: ["message"], fetch_event_types: [] };
  const queue = await mine.ask(register);
  const resumed = await theirs.ask({ type: "resume", queue_id: queue.queue_id, last_event_id: queue.last_event_id });
  t.match(resumed, { result: "error", code: "BAD_EVENT_QUEUE_ID" });
  const again = new Socket(server.url, { as: sales, headers: { Host: salesHost } });
  await again.opened();
  t.match(await again.ask(register), { result: "success" });
  await first.say("general", "sockets", "to the first");
  await sales.say("general", "sockets", "to sales");
  await mine.event((event) => event.message.content === "to the first");
  await again.event((event) => event.message.content === "to sales");
  const contents = again.events.map((event) => event.message.content);
  t.strictSame(contents, ["to sales"]);
  const found = mine.events.map((event) => event.message.content);
  t.strictSame(found, ["to the first"]);
  // Authenticating in the first frame uses the organization of the Host, too.
  const outsider = new Socket(server.url, { headers: { Host: salesHost } });
  await outsider.opened();
  outsider.send({ type: "authenticate", email: first.account?.email, api_key: first.account?.key });
  t.equal((await outsider.closed).code, 4401);
  for (const socket of [mine, theirs, again]) socket.close();
});

t.test("[S1] presence and idempotency keys are separate per organization", async (t) => {
  await first.post("/users/me/presence", { status: "active" });
  const { body } = await sales.post("/users/me/presence", { status: "idle", last_update_id: -1 });
  t.strictSame(Object.keys(body.presences), ["2"], "one's own only");
  const { date_joined: joined } = (await sales.get("/users/me")).body;
  const never = Math.floor(Date.parse(joined) / 1000);
  t.equal(
    body.presences["2"].active_timestamp,
    never,
    "[behaviour 2.7] never active here, whatever happens in the other organization",
  );

  const send = (client: Client, content: string) =>
    client.post("/messages", { type: "direct", to: [2], content }, { "Idempotency-Key": "shared" });
  const [mine, theirs] = [await send(first, "mine"), await send(sales, "theirs")];
  t.strictSame([mine.status, theirs.status], [200, 200], "the same user id and key, but two requests");
  t.equal((await sales.get(`/messages/${theirs.body.id}`)).body.raw_content, "theirs");
});

t.test("[S1] a picture or an emoji is served only to the host of its own organization", async (t) => {
  const png = await picture("png", 20, 20);
  const statusOf = async (host: string, path: string) =>
    (await exchange(server.url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`))?.status;
  t.equal((await upload(sales, "/realm/emoji/sold", png)).status, 200);
  const { emoji } = (await sales.get("/realm/emoji")).body;
  t.strictSame((await first.get("/realm/emoji")).body.emoji, {}, "names and ids are per organization");
  const paths = [(await upload(sales, "/users/me/avatar", png)).body.avatar_url, emoji["1"].source_url];
  for (const path of paths) {
    t.equal(await statusOf(salesHost, path), 200);
    t.equal(await statusOf("localhost", path), 404);
  }
});

t.test("[S1] accounts of the other organization cannot be read, changed or deactivated", async (t) => {
  await server.person("Local One");
  const far = await personInSales("Faraway");
  const local = await server.person("Local Two");
  const noSuchUser = refusal("No such user");
  const address = far.account?.email ?? "";
  t.ok((await sales.get(`/users/${address}`)).body.user);
  await expects(t, first.get(`/users/${address}`), noSuchUser);
  await expects(t, first.patch(`/users/${address}`, { full_name: "Mine" }), noSuchUser);
  await expects(t, sales.get(`/users/${local.userId}`), noSuchUser, "an id that only the other organization has");
  await expects(t, sales.patch(`/users/${local.userId}`, { role: 600 }), noSuchUser);
  await expects(t, sales.delete(`/users/${local.userId}`), noSuchUser);
  await expects(t, sales.post(`/users/${local.userId}/reactivate`), noSuchUser);
  const tags = await Promise.all([first, sales].map((client) => client.get("/users")));
  t.not(tags[0]?.headers.get("ETag"), tags[1]?.headers.get("ETag"), "and the lists have their own names");
  t.equal((await local.get("/users/me")).body.is_active, true);
});
