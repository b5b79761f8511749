/**
 * What a restricted guest receives about a user whom they may not see (`can_access_all_users_group`; D34, D118; public
 * API, "Unknown user"): an id, never a name or an email (S1). users-visibility.test.ts tests which users are visible.
 */
import t, { type Test } from "tap";
import { endpoints } from "../../schemas/index.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, type Event, expects, Follower, outcome, type Params, refusal } from "../support/client.ts";
import { connect } from "../support/realtime.ts";
import { startClockedServer } from "../support/realtime-clock.ts";

const { server, clock } = await startClockedServer(t);
const { owner } = server;
const [guest, otherGuest] = [await server.user("guest", roles.guest), await server.user("other guest", roles.guest)];
const peer = await server.user("peer");
const writer = await server.user("writer");
/** This name and email must appear nowhere. */
const hiddenUser = await server.user("Zebedee");
const name = "Zebedee 0";
const address = "Zebedee0@example.com";
const traces = /zebedee/i;
const unknownEmail = `user${hiddenUser.userId}@colloquy.invalid`;

server.setRealm({
  can_access_all_users_group: server.group("role:members"),
  enable_spectator_access: true,
});
const mention = `hello @**${name}** and @_**${name}|${hiddenUser.userId}**, not @**peer 0**`;
const roomId = await owner.createChannel("room", [peer, guest, otherGuest, hiddenUser], {
  description: `by @**${name}**`,
});
const openId = await owner.createChannel("open", [hiddenUser, writer], { is_web_public: true });
const before = await hiddenUser.say(roomId, "t", "written while a subscriber");
await hiddenUser.delete("/users/me/subscriptions", { subscriptions: ["room"] });
await hiddenUser.post("/messages", { type: "direct", to: [otherGuest.userId], content: "the other one knows me" });
await writer.post("/messages", { type: "direct", to: [guest.userId], content: mention });
const mentioning = await peer.say(roomId, "t", mention);
const elsewhere = await hiddenUser.say(openId, "t", "where everybody may read");
await server.bot("robot", hiddenUser);

/** Everything that the hidden user can do and that sends an event to others. */
async function produceEvents(): Promise<void> {
  await hiddenUser.post("/users/me/presence", { status: "active" });
  await hiddenUser.post("/users/me/status", { status_text: "here", emoji_name: "smile" });
  await hiddenUser.post("/typing", { type: "channel", op: "start", stream_id: roomId, topic: "t" });
  await hiddenUser.post("/typing", { type: "direct", op: "start", to: [guest.userId] });
  await hiddenUser.say(roomId, "t", "from outside");
  await peer.say(roomId, "t", mention);
  await writer.post("/messages", { type: "direct", to: [guest.userId], content: mention });
  await hiddenUser.patch("/settings", { full_name: "Zebedee the Second", timezone: "Europe/Berlin" });
  await hiddenUser.patch("/settings", { full_name: name });
  await owner.post("/channel_folders/create", { name: `folder ${clock.now()}`, description: mention });
  await owner.createChannel(`fresh ${clock.now()}`, [guest, owner], { description: mention });
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "open" }], principals: [peer.userId] });
  await owner.delete("/users/me/subscriptions", { subscriptions: ["open"], principals: [peer.userId] });
  clock.advance(limits.presence_coalesce_ms + 200);
  clock.advance(limits.presence_offline_threshold_s * 1000);
}
await produceEvents();

function isClean(t: Test, what: unknown, title: string): void {
  const text = JSON.stringify(what);
  const at = text.search(traces);
  t.equal(at, -1, at < 0 ? title : `${title}: ${text.slice(Math.max(0, at - 200), at + 100)}`);
}

const fetching = { anchor: "newest", num_before: 100, num_after: 0 };
/** Parameters for each reading operation, besides its path. */
const questions: Readonly<Record<string, readonly Params[]>> = {
  "get-messages": [
    fetching,
    { ...fetching, apply_markdown: false },
    { ...fetching, client_gravatar: false },
    { ...fetching, narrow: [{ operator: "channel", operand: openId }] },
    { ...fetching, narrow: [{ operator: "sender", operand: hiddenUser.userId }] },
  ],
  "get-message": [{}, { apply_markdown: false }],
  "get-users": [{}, { client_gravatar: false, include_custom_profile_fields: true }],
  "get-streams": [{ include_web_public: true, include_all: false }],
  "get-subscriptions": [{ include_subscribers: true }],
};
/** Values of path variables; each operation is called with all of them. */
const places: Readonly<Record<string, readonly (string | number)[]>> = {
  message_id: [before, mentioning, elsewhere],
  user_id: [hiddenUser.userId, peer.userId],
  "user_id*": [hiddenUser.userId, peer.userId],
  email: [address, unknownEmail],
  stream_id: [roomId, openId],
};
/** Events are read by the followers; this long poll would wait. */
const waits = new Set(["get-events"]);

function pathsOf(path: string): string[] {
  const variable = /\{([^}]+)\}/.exec(path);
  if (variable === null) return [path];
  const values = places[variable[1] ?? ""] ?? [1];
  return values.flatMap((value) => pathsOf(path.replace(variable[0], encodeURIComponent(value))));
}

t.test("[S1] no read operation reveals a hidden user's identity", async (t) => {
  let answered = 0;
  for (const { operationId, method, path } of endpoints) {
    if (method !== "GET" || waits.has(operationId)) continue;
    for (const place of pathsOf(path)) {
      for (const params of questions[operationId] ?? [{}]) {
        const { status, body } = await guest.get(place, params);
        if (status === 200) answered++;
        // An error may repeat a value from the request.
        if (status === 200 || !traces.test(decodeURIComponent(place))) isClean(t, body, `${operationId} ${place}`);
      }
    }
  }
  t.ok(answered > 20, `${answered} were answered`);
});

const capabilities = ["simplified_presence_events", "user_list_incomplete", "empty_topic_name", "archived_channels"];
const allOf = (value: boolean) => Object.fromEntries(capabilities.map((capability) => [capability, value]));
const variants: readonly Params[] = [
  { include_subscribers: true, client_capabilities: allOf(false) },
  { apply_markdown: false, client_gravatar: false, client_capabilities: allOf(true), slim_presence: true },
  { apply_markdown: true, include_subscribers: "partial", client_capabilities: allOf(true) },
];

t.test("[S1] neither /register nor an event reveals a hidden user, by long poll or on a socket", async (t) => {
  for (const variant of variants) {
    const state = await guest.register(variant);
    isClean(t, state, `state with ${JSON.stringify(variant)}`);
    t.ok("realm_users" in state && "streams" in state && "channel_folders" in state, "it is whole");
    const follower = new Follower(guest, state);
    const socket = await connect(guest);
    isClean(t, await socket.ask({ type: "register", ...variant }), "the same on a socket");
    await produceEvents();
    await follower.settled();
    t.ok(
      follower.ofType("message").some(({ message }) => message.sender_id === hiddenUser.userId),
      "there was something to redact",
    );
    isClean(t, follower.events, `events with ${JSON.stringify(variant)}`);
    await socket.event((event) => event.message?.content.includes("fence"));
    isClean(t, socket.events, "over a socket");
    const types = new Set([...follower.events, ...socket.events].map((event: Event) => event.type));
    const expected = ["channel_folder", "message", "presence", "stream", "subscription", "typing"];
    const found = expected.filter((type) => !types.has(type));
    t.strictSame(found, [], "events of these types were sent");
    socket.terminate();
  }
});

t.test("[D34] a hidden user is shown as an unknown user, as sender and in mentions", async (t) => {
  const { body } = await guest.get(`/messages/${before}`);
  t.match(body.message, {
    sender_id: hiddenUser.userId,
    sender_full_name: "Unknown user",
    sender_email: unknownEmail,
    avatar_url: /^https:\/\/secure\.gravatar\.com/,
    content: "<p>written while a subscriber</p>",
  });
  t.match((await peer.get(`/messages/${before}`)).body.message, { sender_full_name: name, sender_email: address });
  const id = hiddenUser.userId;
  const known = `<span class="user-mention" data-user-id="${peer.userId}">@peer 0</span>`;
  const html = `<p>hello <span class="user-mention" data-user-id="${id}">@Unknown user</span> and <span class="user-mention silent" data-user-id="${id}">Unknown user</span>, not ${known}</p>`;
  t.match((await guest.get(`/messages/${mentioning}`)).body, {
    message: { sender_full_name: "peer 0", sender_email: "peer0@example.com", content: html },
    raw_content: `hello @**Unknown user** and @_**Unknown user|${id}**, not @**peer 0**`,
  });
});

t.test("[S1] a guest who moved a message does not learn from its history which names its author wrote", async (t) => {
  const id = await peer.say(roomId, "moved by a guest", mention);
  const moved = await guest.patch(`/messages/${id}`, { topic: "where the guest moved it" });
  t.equal(moved.status, 200);
  const { body } = await guest.get(`/messages/${id}/history`);
  const found = body.message_history.map((entry: { user_id: number }) => entry.user_id);
  t.strictSame(found, [peer.userId, guest.userId]);
  isClean(t, body, "the history");
});

t.test("[S1] guests who can see different users receive different bytes of the same message", async (t) => {
  // Waiting sockets share one encoding as far as possible.
  const sockets = [];
  for (const client of [guest, otherGuest, peer, guest]) {
    const socket = await connect(client);
    await socket.ask({ type: "register", event_types: ["message"] });
    sockets.push(socket);
  }
  const id = await hiddenUser.say(roomId, "t", "one message");
  const names = [];
  for (const socket of sockets) {
    const event = await socket.event(({ message }) => message?.id === id);
    names.push(event.message.sender_full_name);
    socket.terminate();
  }
  t.strictSame(names, ["Unknown user", name, name, "Unknown user"]);
});

t.test("[S1] a guest's request with a hidden user's email or name gets the answer for an unknown one", async (t) => {
  const nobody = "nobody@example.com";
  const requests: readonly ((who: string) => Promise<{ status: number; body: unknown }>)[] = [
    (who) => guest.post("/messages", { type: "direct", to: [who], content: "x" }),
    (who) => guest.get("/messages", { ...fetching, narrow: [{ operator: "sender", operand: who }] }),
    (who) => guest.get("/messages", { ...fetching, narrow: [{ operator: "dm", operand: who }] }),
    (who) => guest.get("/messages", { ...fetching, narrow: [{ operator: "dm-including", operand: who }] }),
    (who) => guest.get(`/users/${who}`),
  ];
  for (const ask of requests) {
    const [one, other] = [await ask(address), await ask(nobody)];
    const answer = JSON.stringify(outcome(one as never)).replaceAll(address, "it");
    t.equal(answer, JSON.stringify(outcome(other as never)).replaceAll(nobody, "it"), answer);
  }
});

t.test("[S1] a guest's mention of a hidden user stays text, notifies nobody, and is returned as written", async (t) => {
  for (const text of [
    `@**${name}**`,
    `@**${name}|${hiddenUser.userId}**`,
    `@**|${hiddenUser.userId}**`,
    "@**No One**",
  ]) {
    const sent = await guest.post("/messages", { type: "channel", to: roomId, topic: "t", content: text });
    const { body } = await guest.get(`/messages/${sent.body.id}`);
    t.equal(body.raw_content, text);
    t.notMatch(body.message.content, /user-mention/);
    const shown: Event = await hiddenUser.get(`/messages/${sent.body.id}`);
    t.notMatch(shown.body.message.flags, ["mentioned"]);
  }
});

t.test("[S1] a guest's search for a hidden user's name matches and highlights no mention", async (t) => {
  const search = [{ operator: "search", operand: "Zebedee" }];
  const fetched = await guest.get("/messages", { ...fetching, narrow: search });
  const others = fetched.body.messages.filter(({ sender_id: id }: { sender_id: number }) => id !== guest.userId);
  t.strictSame(others, [], "a guess is not confirmed");
  const matched = { msg_ids: [mentioning], narrow: search };
  t.strictSame((await guest.get("/messages/matches_narrow", matched)).body.messages, {});
  t.ok(
    (await peer.get("/messages/matches_narrow", matched)).body.messages[mentioning],
    "a user who can see the hidden user finds it",
  );
  const other = await guest.get("/messages", { ...fetching, narrow: [{ operator: "search", operand: "hello" }] });
  t.ok(
    other.body.messages.some(({ id }: { id: number }) => id === mentioning),
    "the rest of the message is found",
  );
  isClean(t, other.body, "matches elsewhere are highlighted");
  const both = await guest.get("/messages", { ...fetching, narrow: [{ operator: "search", operand: "peer hello 0" }] });
  t.match(JSON.stringify(both.body), /highlight/);
  isClean(t, both.body, "a word that also occurs in the hidden name");
});

t.test("[S1] an alert word that occurs only in a hidden user's name does not alert a restricted guest", async (t) => {
  for (const client of [guest, otherGuest, peer]) {
    await client.post("/users/me/alert_words", { alert_words: ["zebedee", "lunch"] });
  }
  const follower = await guest.follow({ event_types: ["message"] });
  const say = async (content: string, by = writer) => {
    await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "room" }], principals: [by.userId] });
    const id = await by.say(roomId, "words", content);
    const flags = async (client: Client): Promise<string[]> => (await client.get(`/messages/${id}`)).body.message.flags;
    const seen = [];
    for (const client of [guest, otherGuest, peer]) seen.push((await flags(client)).includes("has_alert_word"));
    const narrow = [{ operator: "is", operand: "alerted" }];
    const { body } = await guest.get("/messages", { anchor: id, num_before: 0, num_after: 0, narrow });
    t.equal(body.messages.length === 1, seen[0], "is:alerted agrees");
    await follower.settled();
    t.equal(
      follower.ofType("message").at(-1).flags.includes("has_alert_word"),
      seen[0],
      "the flags in the event agree",
    );
    return seen;
  };
  t.strictSame(await say(`@_**${name}**`), [false, true, true], "the other guest can see that user");
  t.strictSame(await say(`@_**${name}|${hiddenUser.userId}** at lunch`), [true, true, true], "by another word");
  t.strictSame(await say("zebedee"), [true, true, true], "a name typed as plain text is shown to everybody");
  t.strictSame(await say(`@**${name}**`, guest), [true, true, true], "guests see what they wrote themselves");
});

t.test("[S1] a guest is not told of a hidden user's deactivation, and cannot type to hidden users", async (t) => {
  const gone = await server.user("Zebedee gone");
  await owner.delete(`/users/${gone.userId}`);
  const refused = refusal("You do not have permission to access some of the recipients.");
  for (const id of [hiddenUser.userId, gone.userId]) {
    await expects(t, guest.post("/messages", { type: "direct", to: [id], content: "x" }), refused);
    await expects(t, guest.post("/typing", { type: "direct", op: "start", to: [id] }), refused);
  }
  t.match(await peer.post("/messages", { type: "direct", to: [gone.userId], content: "x" }), {
    body: { msg: "'Zebedee gone0@example.com' is no longer using Colloquy." },
  });
});

t.test("[S1] a hidden email finds no user; the dummy email that replaces it finds its user", async (t) => {
  const shy = await server.user("shy");
  await shy.patch("/settings", { email_address_visibility: 3 });
  const write = (by: Client, to: string) => by.post("/messages", { type: "direct", to: [to], content: "x" });
  const real = "shy0@example.com";
  await expects(t, write(peer, real), `Invalid email '${real}'`);
  t.equal((await write(peer, `user${shy.userId}@colloquy.invalid`)).status, 200);
  t.equal((await write(owner, real)).status, 200, "administrators see it");
  t.equal((await write(shy, real)).status, 200, "one's own email is always found");
});

t.test("[S1] the diffs in a message's history do not contain a hidden user's name", async (t) => {
  const id = await peer.say(roomId, "t", "nobody");
  await peer.patch(`/messages/${id}`, { content: `@**${name}** and @**peer 0**` });
  const { body } = await guest.get(`/messages/${id}/history`);
  isClean(t, body, "the history");
  t.match(body.message_history[1].content_html_diff, /highlight_text_inserted.*@Unknown user.*@peer 0/);
});
