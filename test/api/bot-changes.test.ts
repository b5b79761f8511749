/**
 * Changes of bots (public API: /bots/{bot_id}; behaviour 1.5, 2.8): settings, owner, role and deactivation, and what a
 * bot may do.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { makeBot } from "../support/bots.ts";
import { Client, expects, outcome, type Params, refusal, success } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";
import { everyRole, startServerWithUsers } from "../support/server-with-users.ts";
import { Socket } from "../support/socket.ts";

const { server, owner, administrator, moderator, member, outsider, guest } = await startServerWithUsers(t, [
  ...everyRole,
  "outsider",
]);
const people = { owner, administrator, moderator, member, guest };

const insufficient = refusal("Insufficient permission");
const notForGuests = refusal("Not allowed for guest users");
const notForBots = refusal("This endpoint does not accept bot requests.");
const noSuchBot = refusal("No such bot");

const url = "https://example.com/hook";

/** The request of each operation on one bot. */
const operations: Readonly<Record<string, (by: Client, id: number) => Promise<{ status: number; body: unknown }>>> = {
  update: async (by, id) => outcome(await by.patch(`/bots/${id}`, { default_all_public_streams: true })),
  regenerate: async (by, id) => outcome(await by.post(`/bots/${id}/api_key/regenerate`)),
  deactivate: async (by, id) => outcome(await by.delete(`/bots/${id}`)),
};

t.test("only the owner and administrators may change a bot", async (t) => {
  const { bot: busy } = await makeBot(member, "busy");
  const callers = { ...people, outsider, bot: busy };
  const refused: Readonly<Record<string, object>> = {
    guest: notForGuests,
    bot: notForBots,
    outsider: insufficient,
    moderator: insufficient,
  };
  for (const [operation, ask] of Object.entries(operations)) {
    for (const [name, client] of Object.entries(callers)) {
      const { bot } = await makeBot(member, `${operation}${name}`);
      const expected = refused[name];
      const got = await ask(client, bot.userId);
      if (expected === undefined) t.equal(got.status, 200, `${operation} by ${name}`);
      else t.strictSame(got, expected, `${operation} by ${name}`);
    }
    for (const [what, id] of [
      ["unknown", 999_999],
      ["a person", member.userId],
      ["nobody's", 1],
      ["zero", 0],
    ] as const) {
      t.strictSame(await ask(owner, id), noSuchBot, `${operation} ${what}`);
    }
    t.equal((await ask(owner, "x" as unknown as number)).status, 404, "no path");
  }
});

t.test("only the parameters sent change; the answer is the bot as it is now", async (t) => {
  const { bot } = await makeBot(member, "changing", { default_sending_stream: "general" });
  const change = async (params: Params) => (await member.patch(`/bots/${bot.userId}`, params)).body;
  const before = await change({});
  t.strictSame(before, {
    result: "success",
    msg: "",
    full_name: "The changing",
    avatar_url: before.avatar_url,
    service_interface: null,
    service_payload_url: null,
    bot_owner: "member0@example.com",
    default_sending_stream: "general",
    default_events_register_stream: null,
    default_all_public_streams: false,
  });
  t.match(await change({ full_name: " Changed " }), { full_name: "Changed", default_sending_stream: "general" });
  t.match(await change({ default_sending_stream: "", default_events_register_stream: "General" }), {
    default_sending_stream: null,
    default_events_register_stream: "general",
  });
  t.match(await change({ default_all_public_streams: true }), {
    full_name: "Changed",
    default_all_public_streams: true,
  });
  const found = (await member.get("/bots")).body.bots.find((one: { user_id: number }) => one.user_id === bot.userId);
  t.match(found, {
    full_name: "Changed",
    default_events_register_stream: "general",
    default_all_public_streams: true,
  });
});

t.test("an outgoing webhook bot's URL may be raw text or a JSON string", async (t) => {
  const { bot } = await makeBot(member, "poster", { bot_type: 3, payload_url: JSON.stringify(url), interface_type: 2 });
  const change = async (params: Params) => (await member.patch(`/bots/${bot.userId}`, params)).body;
  t.match(await change({}), { service_payload_url: url, service_interface: 2 });
  const other = "http://localhost:8080/x?y=1#z";
  t.match(await change({ service_payload_url: other }), { service_payload_url: other, service_interface: 2 });
  t.match(await change({ service_payload_url: `"${url}"`, service_interface: 1 }), {
    service_payload_url: url,
    service_interface: 1,
  });
  t.match(await change({ service_interface: 9 }), { msg: "Invalid interface type" });
  t.match(await change({ service_payload_url: "nowhere" }), { msg: "service_payload_url is not a URL" });
  t.match(await change({ service_payload_url: `${url}${"x".repeat(limits.url_code_points_max)}` }), {
    msg: `service_payload_url is too long (limit: ${limits.url_code_points_max} characters)`,
  });
  const { bot: silent } = await makeBot(member, "silent");
  const refused = await member.patch(`/bots/${silent.userId}`, { service_payload_url: url });
  t.strictSame(outcome(refused), refusal("Only outgoing webhook bots have a payload URL"));
});

t.test("[S2] every outgoing webhook bot has its own token, which is not an API key", async (t) => {
  const tokens = new Set<string>();
  for (const name of ["token1", "token2"]) {
    const { answer } = await makeBot(member, name, { bot_type: 3, payload_url: url });
    const state = await member.register({ fetch_event_types: ["realm_bot"] });
    const bots = state["realm_bots"] as { user_id: number; services: { token: string }[] }[];
    const token = bots.find((bot) => bot.user_id === answer.body.user_id)?.services[0]?.token ?? "";
    t.match(token, /^[A-Za-z0-9]{32}$/);
    t.not(token, answer.body.api_key);
    tokens.add(token);
  }
  t.equal(tokens.size, 2);
});

t.test("the new owner must be an active user who is not a bot", async (t) => {
  const { bot } = await makeBot(member, "handed");
  const give = async (by: Client, id: number) => outcome(await by.patch(`/bots/${bot.userId}`, { bot_owner_id: id }));
  const [gone = 0] = await server.users("former", 1);
  await owner.delete(`/users/${gone}`);
  t.strictSame(await give(member, 999_999), refusal("Failed to change owner, no such user"));
  t.strictSame(await give(member, gone), refusal("Failed to change owner, user is deactivated"));
  t.strictSame(await give(member, bot.userId), refusal("Failed to change owner, bots can't own other bots"));
  t.equal((await give(member, outsider.userId)).status, 200);
  t.strictSame(await give(member, member.userId), insufficient, "it is no longer the member's");
  t.equal((await outsider.patch(`/bots/${bot.userId}`, { full_name: "Adopted" })).status, 200);
});

t.test("[behaviour 2.8] administrators change the role of a bot; only owners grant the owner role", async (t) => {
  const { bot } = await makeBot(member, "promoted");
  const give = async (by: Client, role: unknown) => outcome(await by.patch(`/bots/${bot.userId}`, { role }));
  const administratorNeeded = refusal("Must be an organization administrator", "UNAUTHORIZED_PRINCIPAL");
  const ownerNeeded = refusal("Must be an organization owner", "UNAUTHORIZED_PRINCIPAL");
  const roleOf = async () => (await bot.get("/users/me")).body.role;
  t.strictSame(await give(member, roles.moderator), administratorNeeded);
  t.strictSame(await give(member, roles.owner), ownerNeeded);
  t.equal((await give(member, roles.member)).status, 200, "the role that it already has");
  t.strictSame(await give(administrator, roles.owner), ownerNeeded);
  t.strictSame(await give(administrator, 250), refusal("Invalid role"));
  t.equal((await give(administrator, roles.administrator)).status, 200);
  t.equal(await roleOf(), roles.administrator);
  t.equal((await give(owner, roles.owner)).status, 200);
  t.strictSame(await give(administrator, roles.member), ownerNeeded);
  t.equal(await roleOf(), roles.owner);
  const last = await owner.delete(`/users/${owner.userId}`);
  t.strictSame(
    outcome(last),
    refusal("Cannot deactivate the only organization owner"),
    "a bot does not count as a remaining owner",
  );
  await owner.delete(`/bots/${bot.userId}`);
});

t.test("one invalid parameter rejects the whole change", async (t) => {
  const { bot } = await makeBot(member, "whole");
  const mixed = { full_name: "Half", default_sending_stream: "nowhere" };
  await expects(t, member.patch(`/bots/${bot.userId}`, mixed), "Invalid channel name 'nowhere'");
  t.equal((await bot.get("/users/me")).body.full_name, "The whole");
  const taken = await member.patch(`/bots/${bot.userId}`, { full_name: "outsider 0" });
  t.strictSame(outcome(taken), refusal("Name is already in use!"));
  t.equal((await member.patch(`/bots/${bot.userId}`, { full_name: "The whole" })).status, 200, "its own name");
});

t.test("answers that contain keys are not stored for an Idempotency-Key", async (t) => {
  const key = { "Idempotency-Key": "secret" };
  const params = { full_name: "Unkept", short_name: "unkept" };
  const first = await member.post("/bots", params, key);
  t.equal(first.status, 200);
  await expects(t, member.post("/bots", params, key), "Username already in use");
  const path = `/bots/${first.body.user_id}/api_key/regenerate`;
  const [one, two] = [await member.post(path, {}, key), await member.post(path, {}, key)];
  t.not(one.body.api_key, two.body.api_key);
  await member.patch(`/bots/${first.body.user_id}`, { full_name: "Kept" }, { "Idempotency-Key": "kept" });
  t.strictSame(
    server.realm.lmdb.keys("idempotency", { start: [member.userId], end: [member.userId, "zz"], limit: 100 }).length,
    1,
    "that of the change",
  );
});

t.test("[S2] a new key for a bot revokes the old one at once", async (t) => {
  const { bot } = await makeBot(member, "rekeyed");
  const { body } = await member.post(`/bots/${bot.userId}/api_key/regenerate`);
  t.match(body.api_key, /^[A-Za-z0-9]{32}$/);
  await expects(t, bot.get("/users/me"), refusal("Invalid API key", "INVALID_API_KEY", 401));
  const again = new Client(server.url, { email: bot.account?.email ?? "", key: body.api_key, userId: bot.userId });
  t.equal((await again.get("/users/me")).status, 200);
});

t.test("[D2] deactivating a bot ends its key and queues at once; repeating it changes nothing", async (t) => {
  const { bot } = await makeBot(member, "ending");
  const { queue_id } = await bot.register({ fetch_event_types: [] });
  t.equal((await member.delete(`/bots/${bot.userId}`)).status, 200);
  await expects(t, bot.get("/users/me"), refusal("Account is deactivated", "USER_DEACTIVATED", 401));
  t.equal(server.realm.view.queue(queue_id), undefined);
  const changes = await owner.watchChanges();
  await expects(t, member.delete(`/bots/${bot.userId}`), success());
  t.strictSame(await changes(), []);
});

t.test("[spec 4.20] deactivating a user deactivates their bots and no other ones", async (t) => {
  const leaver = await server.user("leaver");
  const { bot: first } = await makeBot(leaver, "first");
  const { bot: second } = await makeBot(leaver, "other");
  const { bot: third } = await makeBot(member, "theirs");
  await owner.delete(`/users/${leaver.userId}`);
  for (const bot of [first, second]) t.equal((await bot.get("/users/me")).body.code, "USER_DEACTIVATED");
  t.equal((await third.get("/users/me")).status, 200);
});

t.test("[behaviour 1.5] an incoming webhook bot may send messages and nothing else", async (t) => {
  const { bot } = await makeBot(member, "incoming", { bot_type: 2 });
  const refused = refusal("This API is not available to incoming webhook bots.", "UNAUTHORIZED", 401);
  const sent = await bot.post("/messages", { type: "channel", to: "general", topic: "t", content: "ping" });
  t.equal(sent.status, 200);
  for (const [method, path] of [
    ["GET", "/users/me"],
    ["GET", "/users"],
    ["GET", "/messages"],
    ["POST", "/register"],
    ["POST", "/users/me/subscriptions"],
    ["DELETE", `/users/${member.userId}`],
  ] as const) {
    const answer = await bot.send(method, path, method === "GET" ? null : "");
    t.strictSame(outcome(answer), refused, `${method} ${path}`);
    t.match(answer.headers.get("www-authenticate"), /^Basic/);
  }
  t.equal((await bot.get("/server_settings")).status, 200, "operations without authentication still work");
  const socket = new Socket(server.url);
  await socket.opened();
  socket.send({ type: "authenticate", email: bot.account?.email, api_key: bot.account?.key, ref: "1" });
  t.match(await socket.closed, { code: 4401 });
  await t.rejects(new Socket(server.url, { as: bot }).opened(), "nor with the header of the upgrade");
});

t.test("a bot's default channel and default queue settings take effect", async (t) => {
  await owner.createChannel("sink", [owner]);
  await owner.createChannel("source", [owner]);
  const { bot } = await makeBot(member, "defaulting", {
    default_sending_stream: "sink",
    default_events_register_stream: "source",
    default_all_public_streams: true,
  });
  for (const to of [undefined, []]) {
    const sent = await bot.post("/messages", { type: "channel", to, topic: "t", content: "no place" });
    const { body } = await owner.get(`/messages/${sent.body.id}`);
    t.equal(body.message.display_recipient, "sink");
  }
  const plain = await bot.register({ event_types: ["message"], fetch_event_types: [] });
  const own = await bot.register({
    event_types: ["message"],
    fetch_event_types: [],
    all_public_streams: false,
    narrow: [],
  });
  const inSource = await owner.say("source", "t", "heard");
  await owner.say("sink", "t", "not narrowed to");
  const read = async (queue: { queue_id: string; last_event_id: number }) => {
    const { body } = await bot.get("/events", { ...queue, dont_block: true });
    return body.events.map((event: { message: { id: number } }) => event.message.id);
  };
  t.strictSame(await read({ queue_id: plain.queue_id, last_event_id: plain.last_event_id }), [inSource]);
  t.strictSame(await read({ queue_id: own.queue_id, last_event_id: own.last_event_id }), [], "said otherwise");
  const { bot: bare } = await makeBot(member, "bare");
  const missing = refusal("Missing 'to' argument", "REQUEST_VARIABLE_MISSING", 400, { var_name: "to" });
  const nowhere = { type: "channel", topic: "t", content: "x" };
  await expects(t, bare.post("/messages", nowhere), missing);
  await expects(t, bare.post("/messages", { ...nowhere, to: [] }), "Expected exactly one channel");
});

t.test("[S1] a bot of another organization does not exist here, and its key is rejected", async (t) => {
  const { bot } = await makeBot(member, "foreign");
  const other = await startTestServer(t);
  for (const ask of Object.values(operations)) t.strictSame(await ask(other.owner, bot.userId), noSuchBot);
  const answer = await new Client(other.url, bot.account).get("/users/me");
  t.strictSame(outcome(answer), refusal("Invalid API key", "INVALID_API_KEY", 401));
});
