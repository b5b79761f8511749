/**
 * Events about starred messages (E2; behaviour 5.2, 7). The public server keeps a row for each user who starred a
 * message, received or not, and sends them its changes. State before plus events equals a fresh fetch, for every
 * reader.
 */
import t, { type Test as TapTest } from "tap";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { type Client, expects, type Params } from "../support/client.ts";
import { audit, move, moved } from "../support/message-moves.ts";
import { FlagsMirror } from "../support/mirror-flags.ts";
import { readAgain } from "../support/realtime.ts";
import { rowsOf } from "../support/runtime.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const anna = await server.user("anna");
let channels = 0;
let people = 0;

/** A new user without stars. */
const newcomer = () => server.user(`bert ${++people}`);

/** A channel with these subscribers. */
const place = (more: Params = {}, inside: readonly Client[] = [owner, anna]) =>
  owner.createChannel(`place ${++channels}`, inside, more);

const star = (who: Client, messages: readonly number[], op = "add") =>
  who.post("/messages/flags", { op, flag: "starred", messages });

const types = ["message", "update_message", "delete_message", "reaction", "update_message_flags", "starred_messages"];

/** A client that starts with the starred messages and applies events. */
async function starGazer(who: Client) {
  const params = { event_types: types, fetch_event_types: types };
  const follower = await who.follow(params);
  return {
    follower,
    /** Checks that the state by events equals a fresh fetch. */
    async agrees(t: TapTest, expected: readonly number[]): Promise<void> {
      const events = await follower.settled();
      const mirror = new FlagsMirror({ user_id: who.userId, ...follower.state });
      for (const event of events) mirror.apply(event);
      const fresh = await who.register(params);
      t.strictSame(fresh["starred_messages"], expected, "a fresh fetch");
      t.strictSame(mirror.picture().starred, expected, "state before + events");
      const again = new FlagsMirror({ user_id: who.userId, ...follower.state });
      for (const event of await readAgain(who, follower.state)) again.apply(event);
      t.strictSame(again.picture().starred, expected, "state before + replayed events");
    },
  };
}

t.test("[E2, behaviour 7] a user who starred a public message not received gets its deletion", async (t) => {
  const bert = await newcomer();
  const id = await place();
  const [one, two] = [await anna.say(id, "t", "one"), await anna.say(id, "t", "two")];
  await star(bert, [one, two]);
  const gazer = await starGazer(bert);
  await owner.delete(`/messages/${one}`);
  await gazer.agrees(t, [two]);
  t.match(gazer.follower.ofType("delete_message"), [{ message_id: one, stream_id: id, topic: "t" }]);
  await owner.post(`/streams/${id}/delete_topic`, { topic_name: "t" });
  await gazer.agrees(t, []);
  t.strictSame(gazer.follower.ofType("update_message_flags"), [], "the flag is removed with the message");
  const { lmdb } = server.realm;
  t.strictSame([rowsOf(lmdb, "messageFlags"), rowsOf(lmdb, "flagHolders")], [[], []]);
});

t.test("[E2, behaviour 7] a user who starred a message not received gets its edits, moves and reactions", async (t) => {
  const bert = await newcomer();
  const [id, to] = [await place(), await place()];
  const message = await anna.say(id, "t", "one");
  await anna.say(id, "t", "unmarked");
  await star(bert, [message]);
  const { follower } = await starGazer(bert);
  await anna.patch(`/messages/${message}`, { content: "two" });
  await owner.post(`/messages/${message}/reactions`, { emoji_name: "tada" });
  await expects(t, move(owner, message, { topic: "u", propagate_mode: "change_all" }), moved);
  await expects(t, move(owner, message, { stream_id: to, propagate_mode: "change_all" }), moved);
  await follower.settled();
  t.match(follower.ofType("update_message"), [
    { message_id: message, content: "two", flags: ["read", "starred", "historical"] },
    { orig_subject: "t", subject: "u" },
    { stream_id: id, new_stream_id: to },
  ]);
  t.match(follower.ofType("reaction"), [{ message_id: message, op: "add" }]);
  follower.events.length = 0;
  await star(bert, [message], "remove");
  await anna.patch(`/messages/${message}`, { content: "three" });
  await owner.delete(`/messages/${message}`);
  await follower.settled();
  t.strictSame([follower.ofType("update_message"), follower.ofType("delete_message")], [[], []]);
});

t.test("[E2] a starred message's move is sent once to a user subscribed to the new channel only", async (t) => {
  const bert = await newcomer();
  const id = await place();
  const to = await place({}, [owner, bert]);
  const message = await anna.say(id, "t", "one");
  await star(bert, [message]);
  const gazer = await starGazer(bert);
  await expects(t, move(owner, message, { stream_id: to, propagate_mode: "change_all" }), moved);
  await gazer.agrees(t, [message]);
  t.equal(gazer.follower.ofType("update_message").length, 1);
});

for (const [who, isInside] of [
  ["received", true],
  ["was not in the channel of", false],
] as const) {
  t.test(
    `[E2] a star is removed when the message becomes unreadable for a user who ${who} it, and is not restored`,
    async (t) => {
      const bert = await newcomer();
      const cyd = await newcomer();
      const open = await place({}, isInside ? [owner, anna, bert] : [owner, anna]);
      const sealed = await place({ invite_only: true, history_public_to_subscribers: true }, [owner, cyd]);
      const ids = [await anna.say(open, "t", "one"), await anna.say(open, "t", "two")];
      await star(bert, ids);
      await star(cyd, ids);
      const [gazer, inside] = [await starGazer(bert), await starGazer(cyd)];
      await expects(t, move(owner, ids[0] ?? 0, { stream_id: sealed, propagate_mode: "change_all" }), moved);
      await gazer.agrees(t, []);
      const messageIds = gazer.follower.ofType("delete_message").map((event) => event.message_id);
      t.strictSame(messageIds, ids);
      await inside.agrees(t, ids);
      const subscriptions = [{ name: `place ${channels}` }];
      await owner.post("/users/me/subscriptions", { subscriptions, principals: [bert.userId] });
      await gazer.agrees(t, []);
      t.equal(
        (await bert.get(`/messages/${ids[0]}`)).status,
        200,
        "a user who can read it again finds it without a star",
      );
      audit(t, server);
    },
  );
}

t.test("[E2, S1] a user who left a starred message's private channel receives only the star's removal", async (t) => {
  const bert = await newcomer();
  const sealed = await place({ invite_only: true }, [owner, anna, bert]);
  const ids = [await anna.say(sealed, "secret plan", "one"), await anna.say(sealed, "secret plan", "two")];
  await star(bert, ids);
  await bert.delete("/users/me/subscriptions", { subscriptions: [`place ${channels}`] });
  const gazer = await starGazer(bert);
  await gazer.agrees(t, ids);
  await owner.post(`/streams/${sealed}/delete_topic`, { topic_name: "secret plan" });
  await gazer.agrees(t, []);
  // This queue may receive the late announcement that leaving marked the messages as read.
  const stars = gazer.follower.ofType("update_message_flags").filter(({ flag }) => flag === "starred");
  t.match(stars, [{ op: "remove", messages: ids, all: false }]);
  t.strictSame(gazer.follower.ofType("delete_message"), []);
  t.notMatch(JSON.stringify(gazer.follower.events), /secret plan/);
});

t.test("[E2] a guest who left a public channel cannot read the message and gets the star's removal", async (t) => {
  const guest = await server.user("guest", roles.guest);
  const id = await place({}, [owner, guest]);
  const message = await owner.say(id, "t", "one");
  await star(guest, [message]);
  await guest.delete("/users/me/subscriptions", { subscriptions: [`place ${channels}`] });
  const gazer = await starGazer(guest);
  await owner.delete(`/messages/${message}`);
  await gazer.agrees(t, []);
});

t.test("[S1] protected history: a user who starred one message receives events about that one alone", async (t) => {
  const bert = await newcomer();
  const vault = await place({ invite_only: true }, [owner, anna]);
  const before = await anna.say(vault, "t", "before bert came");
  const subscriptions = [{ name: `place ${channels}` }];
  await owner.post("/users/me/subscriptions", { subscriptions, principals: [bert.userId] });
  const after = await anna.say(vault, "t", "after");
  await star(bert, [after]);
  const gazer = await starGazer(bert);
  await owner.post(`/streams/${vault}/delete_topic`, { topic_name: "t" });
  await gazer.agrees(t, []);
  const messageIds = gazer.follower.ofType("delete_message").map((event) => event.message_id);
  t.strictSame(messageIds, [after]);
  t.notMatch(JSON.stringify(gazer.follower.events), new RegExp(`\\b${before}\\b.*delete_message`));
});

t.test("[E2] a message's stars are found even among more stars than one pass reads", async (t) => {
  const bert = await newcomer();
  const id = await place();
  const first = await anna.say(id, "t", "first");
  const between: number[] = [];
  for (let left = limits.event_ids_per_piece_max; left > 0; left -= 50) {
    between.push(...(await Promise.all(Array.from({ length: 50 }, () => anna.say(id, "other", "x")))));
  }
  const last = await anna.say(id, "t", "last");
  await star(bert, [...between, last]);
  const { follower } = await starGazer(bert);
  await owner.post(`/streams/${id}/delete_topic`, { topic_name: "t" });
  await follower.settled();
  const messageIds = follower.ofType("delete_message").map((event) => event.message_id);
  t.strictSame(messageIds, [first, last]);
  audit(t, server);
});
