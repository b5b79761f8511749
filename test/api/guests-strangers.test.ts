/**
 * What a restricted guest is told of somebody whom they may not know (`can_access_all_users_group`; D34; public API, "Unknown
 * user"): an id, and on no path a name or an address (S1). Who is known, and how one meets and parts, is in users-sight.test.ts.
 */
import t, { type Test } from "tap";
import { endpoints } from "../../schemas/index.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import type { Client, Params } from "../support/client.ts";
import {
  botOf,
  createChannel,
  type Event,
  Follower,
  outcome,
  personOf,
  refusal,
  setRealmSettings,
  systemGroup,
} from "../support/conversation.ts";
import { connect } from "../support/realtime.ts";
import { startClockedServer } from "../support/realtime-clock.ts";

const { server, clock } = await startClockedServer(t);
const { owner } = server;
const [guest, otherGuest] = [
  await personOf(server, "guest", roles.guest),
  await personOf(server, "other guest", roles.guest),
];
const peer = await personOf(server, "peer");
const writer = await personOf(server, "writer");
/** Of this name and address nothing may come. */
const stranger = await personOf(server, "Zebedee");
const name = "Zebedee 0";
const address = "Zebedee0@example.com";
const traces = /zebedee/i;
const unknownEmail = `user${stranger.userId}@colloquy.invalid`;

setRealmSettings(server, {
  can_access_all_users_group: systemGroup(server, "role:members"),
  enable_spectator_access: true,
});
const mention = `hello @**${name}** and @_**${name}|${stranger.userId}**, not @**peer 0**`;
const roomId = await createChannel(owner, "room", [peer, guest, otherGuest, stranger], {
  description: `by @**${name}**`,
});
const openId = await createChannel(owner, "open", [stranger, writer], { is_web_public: true });
const before = await stranger.say(roomId, "t", "written while a subscriber");
await stranger.delete("/users/me/subscriptions", { subscriptions: ["room"] });
await stranger.post("/messages", { type: "direct", to: [otherGuest.userId], content: "the other one knows me" });
await writer.post("/messages", { type: "direct", to: [guest.userId], content: mention });
const mentioning = await peer.say(roomId, "t", mention);
const elsewhere = await stranger.say(openId, "t", "where everybody may read");
await botOf(server, "robot", stranger);

/** Whatever the stranger can do that others may come to hear of. */
async function bustle(): Promise<void> {
  await stranger.post("/users/me/presence", { status: "active" });
  await stranger.post("/users/me/status", { status_text: "here", emoji_name: "smile" });
  await stranger.post("/typing", { type: "channel", op: "start", stream_id: roomId, topic: "t" });
  await stranger.post("/typing", { type: "direct", op: "start", to: [guest.userId] });
  await stranger.say(roomId, "t", "from outside");
  await peer.say(roomId, "t", mention);
  await writer.post("/messages", { type: "direct", to: [guest.userId], content: mention });
  await stranger.patch("/settings", { full_name: "Zebedee the Second", timezone: "Europe/Berlin" });
  await stranger.patch("/settings", { full_name: name });
  await owner.post("/channel_folders/create", { name: `folder ${clock.now()}`, description: mention });
  await createChannel(owner, `fresh ${clock.now()}`, [guest, owner], { description: mention });
  await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "open" }], principals: [peer.userId] });
  await owner.delete("/users/me/subscriptions", { subscriptions: ["open"], principals: [peer.userId] });
  clock.advance(limits.presence_coalesce_ms + 200);
  clock.advance(limits.presence_offline_threshold_s * 1000);
}
await bustle();

function isClean(t: Test, what: unknown, title: string): void {
  const text = JSON.stringify(what);
  const at = text.search(traces);
  t.equal(at, -1, at < 0 ? title : `${title}: ${text.slice(Math.max(0, at - 200), at + 100)}`);
}

const fetching = { anchor: "newest", num_before: 100, num_after: 0 };
/** What each reading operation is asked, beside what its path names. */
const questions: Readonly<Record<string, readonly Params[]>> = {
  "get-messages": [
    fetching,
    { ...fetching, apply_markdown: false },
    { ...fetching, client_gravatar: false },
    { ...fetching, narrow: [{ operator: "channel", operand: openId }] },
    { ...fetching, narrow: [{ operator: "sender", operand: stranger.userId }] },
  ],
  "get-message": [{}, { apply_markdown: false }],
  "get-users": [{}, { client_gravatar: false, include_custom_profile_fields: true }],
  "get-streams": [{ include_web_public: true, include_all: false }],
  "get-subscriptions": [{ include_subscribers: true }],
};
/** What stands in a path; each operation is asked for all of them. */
const places: Readonly<Record<string, readonly (string | number)[]>> = {
  message_id: [before, mentioning, elsewhere],
  user_id: [stranger.userId, peer.userId],
  "user_id*": [stranger.userId, peer.userId],
  email: [address, unknownEmail],
  stream_id: [roomId, openId],
};
/** Long-polls are read as events; this one would wait. */
const waits = new Set(["get-events"]);

function pathsOf(path: string): string[] {
  const variable = /\{([^}]+)\}/.exec(path);
  if (variable === null) return [path];
  const values = places[variable[1] ?? ""] ?? [1];
  return values.flatMap((value) => pathsOf(path.replace(variable[0], encodeURIComponent(value))));
}

t.test("[S1] no reading operation says who a stranger is", async (t) => {
  let answered = 0;
  for (const { operationId, method, path } of endpoints) {
    if (method !== "GET" || waits.has(operationId)) continue;
    for (const place of pathsOf(path)) {
      for (const params of questions[operationId] ?? [{}]) {
        const { status, body } = await guest.get(place, params);
        if (status === 200) answered++;
        // A refusal may say what was asked for.
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

t.test("[S1] neither the state of /register nor any event says it, by long-poll or over a socket", async (t) => {
  for (const variant of variants) {
    const state = await guest.register(variant);
    isClean(t, state, `state with ${JSON.stringify(variant)}`);
    t.ok("realm_users" in state && "streams" in state && "channel_folders" in state, "it is whole");
    const follower = new Follower(guest, state);
    const socket = await connect(guest);
    isClean(t, await socket.ask({ type: "register", ...variant }), "the same over a socket");
    await bustle();
    await follower.settled();
    t.ok(
      follower.ofType("message").some(({ message }) => message.sender_id === stranger.userId),
      "there was something to conceal",
    );
    isClean(t, follower.events, `events with ${JSON.stringify(variant)}`);
    await socket.event((event) => event.message?.content.includes("fence"));
    isClean(t, socket.events, "over a socket");
    const types = new Set([...follower.events, ...socket.events].map((event: Event) => event.type));
    const expected = ["channel_folder", "message", "presence", "stream", "subscription", "typing"];
    t.strictSame(
      expected.filter((type) => !types.has(type)),
      [],
      "there were events of these types",
    );
    socket.terminate();
  }
});

t.test("[D34] the sender is an unknown user, mentions as well; those whom one knows are as they are", async (t) => {
  const { body } = await guest.get(`/messages/${before}`);
  t.match(body.message, {
    sender_id: stranger.userId,
    sender_full_name: "Unknown user",
    sender_email: unknownEmail,
    avatar_url: /^https:\/\/secure\.gravatar\.com/,
    content: "<p>written while a subscriber</p>",
  });
  t.match((await peer.get(`/messages/${before}`)).body.message, { sender_full_name: name, sender_email: address });
  const id = stranger.userId;
  const known = `<span class="user-mention" data-user-id="${peer.userId}">@peer 0</span>`;
  const html = `<p>hello <span class="user-mention" data-user-id="${id}">@Unknown user</span> and <span class="user-mention silent" data-user-id="${id}">Unknown user</span>, not ${known}</p>`;
  t.match((await guest.get(`/messages/${mentioning}`)).body, {
    message: { sender_full_name: "peer 0", sender_email: "peer0@example.com", content: html },
    raw_content: `hello @**Unknown user** and @_**Unknown user|${id}**, not @**peer 0**`,
  });
});

t.test("[S1] guests who know different people get different bytes of one message", async (t) => {
  // Sockets that wait are given one encoding, as far as it is shared.
  const sockets = [];
  for (const client of [guest, otherGuest, peer, guest]) {
    const socket = await connect(client);
    await socket.ask({ type: "register", event_types: ["message"] });
    sockets.push(socket);
  }
  const id = await stranger.say(roomId, "t", "one message");
  const names = [];
  for (const socket of sockets) {
    const event = await socket.event(({ message }) => message?.id === id);
    names.push(event.message.sender_full_name);
    socket.terminate();
  }
  t.strictSame(names, ["Unknown user", name, name, "Unknown user"]);
});

t.test("[S1] what a guest asks for by address or name is answered as if nobody had it", async (t) => {
  const nobody = "nobody@example.com";
  const asked: readonly ((who: string) => Promise<{ status: number; body: unknown }>)[] = [
    (who) => guest.post("/messages", { type: "direct", to: [who], content: "x" }),
    (who) => guest.get("/messages", { ...fetching, narrow: [{ operator: "sender", operand: who }] }),
    (who) => guest.get("/messages", { ...fetching, narrow: [{ operator: "dm", operand: who }] }),
    (who) => guest.get("/messages", { ...fetching, narrow: [{ operator: "dm-including", operand: who }] }),
    (who) => guest.get(`/users/${who}`),
  ];
  for (const ask of asked) {
    const [one, other] = [await ask(address), await ask(nobody)];
    const answer = JSON.stringify(outcome(one as never)).replaceAll(address, "it");
    t.equal(answer, JSON.stringify(outcome(other as never)).replaceAll(nobody, "it"), answer);
  }
});

t.test("[S1] a guest's mention of a stranger is a text; theirs come back as they wrote them", async (t) => {
  for (const text of [`@**${name}**`, `@**${name}|${stranger.userId}**`, `@**|${stranger.userId}**`, "@**No One**"]) {
    const sent = await guest.post("/messages", { type: "channel", to: roomId, topic: "t", content: text });
    const { body } = await guest.get(`/messages/${sent.body.id}`);
    t.equal(body.raw_content, text);
    t.notMatch(body.message.content, /user-mention/);
    const shown: Event = await stranger.get(`/messages/${sent.body.id}`);
    t.notMatch(shown.body.message.flags, ["mentioned"]);
  }
});

t.test("[S1] a search for a stranger's name finds no mention of them and marks none", async (t) => {
  const search = [{ operator: "search", operand: "Zebedee" }];
  const fetched = await guest.get("/messages", { ...fetching, narrow: search });
  const others = fetched.body.messages.filter(({ sender_id: id }: { sender_id: number }) => id !== guest.userId);
  t.strictSame(others, [], "a guess is not confirmed");
  const matched = { msg_ids: [mentioning], narrow: search };
  t.strictSame((await guest.get("/messages/matches_narrow", matched)).body.messages, {});
  t.ok((await peer.get("/messages/matches_narrow", matched)).body.messages[mentioning], "who knows them finds it");
  const other = await guest.get("/messages", { ...fetching, narrow: [{ operator: "search", operand: "hello" }] });
  t.ok(
    other.body.messages.some(({ id }: { id: number }) => id === mentioning),
    "what else it says is found",
  );
  isClean(t, other.body, "the words that were found are marked elsewhere");
  const both = await guest.get("/messages", { ...fetching, narrow: [{ operator: "search", operand: "peer hello 0" }] });
  t.match(JSON.stringify(both.body), /highlight/);
  isClean(t, both.body, "a word that stands in the hidden name, too");
});

t.test("[S1] a word that stands only in a stranger's name alerts no guest who may not know them", async (t) => {
  for (const client of [guest, otherGuest, peer]) {
    await client.post("/users/me/alert_words", { alert_words: ["zebedee", "lunch"] });
  }
  const follower = await Follower.of(guest, { event_types: ["message"] });
  const say = async (content: string, by = writer) => {
    await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "room" }], principals: [by.userId] });
    const id = await by.say(roomId, "words", content);
    const flags = async (client: Client): Promise<string[]> => (await client.get(`/messages/${id}`)).body.message.flags;
    const seen = [];
    for (const client of [guest, otherGuest, peer]) seen.push((await flags(client)).includes("has_alert_word"));
    const narrow = [{ operator: "is", operand: "alerted" }];
    const { body } = await guest.get("/messages", { anchor: id, num_before: 0, num_after: 0, narrow });
    t.equal(body.messages.length === 1, seen[0], "is:alerted says the same");
    await follower.settled();
    t.equal(follower.ofType("message").at(-1).flags.includes("has_alert_word"), seen[0], "and so does the event");
    return seen;
  };
  t.strictSame(await say(`@_**${name}**`), [false, true, true], "the other one knows the stranger");
  t.strictSame(await say(`@_**${name}|${stranger.userId}** at lunch`), [true, true, true], "by another word");
  t.strictSame(await say("zebedee"), [true, true, true], "what was typed as text is shown to everybody");
  t.strictSame(await say(`@**${name}**`, guest), [true, true, true], "and to guests what they wrote themselves");
});

t.test("[S1] of a stranger's deactivation nothing is said; nobody types to strangers", async (t) => {
  const gone = await personOf(server, "Zebedee gone");
  await owner.delete(`/users/${gone.userId}`);
  const refused = refusal("You do not have permission to access some of the recipients.");
  for (const id of [stranger.userId, gone.userId]) {
    t.strictSame(outcome(await guest.post("/messages", { type: "direct", to: [id], content: "x" })), refused);
    t.strictSame(outcome(await guest.post("/typing", { type: "direct", op: "start", to: [id] })), refused);
  }
  t.match(await peer.post("/messages", { type: "direct", to: [gone.userId], content: "x" }), {
    body: { msg: "'Zebedee gone0@example.com' is no longer using Colloquy." },
  });
});

t.test(
  "[S1] an address that is hidden by its owner's choice is nobody's, the one in its place is theirs",
  async (t) => {
    const shy = await personOf(server, "shy");
    await shy.patch("/settings", { email_address_visibility: 3 });
    const write = (by: Client, to: string) => by.post("/messages", { type: "direct", to: [to], content: "x" });
    const real = "shy0@example.com";
    t.strictSame(outcome(await write(peer, real)), refusal(`Invalid email '${real}'`));
    t.equal((await write(peer, `user${shy.userId}@colloquy.invalid`)).status, 200);
    t.equal((await write(owner, real)).status, 200, "administrators see it");
    t.equal((await write(shy, real)).status, 200, "one's own is one's own");
  },
);

t.test("[S1] the diff in a message's history names no stranger either", async (t) => {
  const id = await peer.say(roomId, "t", "nobody");
  await peer.patch(`/messages/${id}`, { content: `@**${name}** and @**peer 0**` });
  const { body } = await guest.get(`/messages/${id}/history`);
  isClean(t, body, "the history");
  t.match(body.message_history[1].content_html_diff, /highlight_text_inserted.*@Unknown user.*@peer 0/);
});
