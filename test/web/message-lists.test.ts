/** The page's lists of messages follow events as fetching them again would. */
import fc from "fast-check";
import t from "tap";
import type { Events, Message } from "../../packages/client/src/api/index.ts";
import {
  applyToMessages,
  type MessageStore,
  messageLimits,
  messagesOf,
  noMessages,
  Recording,
  remuted,
  withPage,
} from "../../packages/web/src/state/message-lists.ts";
import { home, matcherFor, narrowKey, type Reader, type Term } from "../../packages/web/src/state/narrow.ts";
import { widgetOf } from "../../packages/web/src/state/widget.ts";
import { seedOf } from "../support/seed.ts";

const me: Reader = { userId: 2, isChannelMuted: () => false, isTopicMuted: () => false };
const narrows: readonly (readonly Term[])[] = [
  [],
  [{ operator: "channel", operand: 1 }],
  [
    { operator: "channel", operand: 1 },
    { operator: "topic", operand: "a" },
  ],
  [
    { operator: "channel", operand: 2 },
    { operator: "topic", operand: "b" },
  ],
  [{ operator: "is", operand: "starred" }],
  [{ operator: "dm", operand: [4] }],
  [{ operator: "sender", operand: 3 }],
  [
    { operator: "channel", operand: 2 },
    { operator: "sender", operand: 3 },
  ],
];

function messageOf(id: number, channelId: number, topic: string, senderId = 3): Message {
  return {
    id,
    sender_id: senderId,
    content: `<p>${id}</p>`,
    timestamp: id,
    reactions: [],
    submessages: [],
    type: "stream",
    stream_id: channelId,
    subject: topic,
    display_recipient: "channel",
    flags: [],
  } as unknown as Message;
}

function directMessageOf(id: number, senderId: number): Message {
  const { stream_id: _channel, ...message } = messageOf(id, 0, "", senderId);
  const people = [{ id: me.userId }, { id: senderId }];
  return { ...message, type: "private", display_recipient: people } as unknown as Message;
}

/** What the server would answer. */
class Naive {
  messages: Message[] = [];

  page(terms: readonly Term[]) {
    const matches = matcherFor(terms, me);
    return this.messages.filter((message) => matches?.(message) === true);
  }
}

type Step =
  | { readonly kind: "send"; readonly channelId: number; readonly topic: string; readonly senderId: number }
  | { readonly kind: "send directly"; readonly senderId: number }
  | { readonly kind: "move"; readonly pick: number; readonly channelId: number; readonly topic: string }
  | { readonly kind: "delete"; readonly pick: number }
  | { readonly kind: "star"; readonly pick: number }
  | { readonly kind: "edit"; readonly pick: number };

const channelId = fc.constantFrom(1, 2);
const topic = fc.constantFrom("a", "b");
const senderId = fc.constantFrom(3, 4);
const pick = fc.nat(50);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("send" as const), channelId, topic, senderId }),
  fc.record({ kind: fc.constant("send directly" as const), senderId }),
  fc.record({ kind: fc.constant("move" as const), pick, channelId, topic }),
  fc.record({ kind: fc.constant("delete" as const), pick }),
  fc.record({ kind: fc.constant("star" as const), pick }),
  fc.record({ kind: fc.constant("edit" as const), pick }),
);

/** Plays a step at the server, and returns its event. */
function play(server: Naive, one: Step, id: number): Events[keyof Events] | null {
  if (one.kind === "send" || one.kind === "send directly") {
    const isDirect = one.kind === "send directly";
    const message = isDirect
      ? directMessageOf(id, one.senderId)
      : messageOf(id, one.channelId, one.topic, one.senderId);
    server.messages.push(message);
    return { type: "message", id, message, flags: [] } as unknown as Events["message"];
  }
  const { messages } = server;
  const message = messages[one.pick % Math.max(1, messages.length)];
  if (message === undefined) return null;
  const replace = (next: Partial<Message>) => {
    server.messages = messages.map((other) => (other === message ? { ...message, ...next } : other));
  };
  if (one.kind === "delete") {
    server.messages = messages.filter((other) => other !== message);
    return {
      type: "delete_message",
      id,
      message_type: "stream",
      message_ids: [message.id],
    } as unknown as Events[keyof Events];
  }
  if (one.kind === "star") {
    replace({ flags: ["starred"] });
    const what = { op: "add", operation: "add", flag: "starred", messages: [message.id], all: false } as const;
    return { type: "update_message_flags", id, ...what };
  }
  const base = { type: "update_message", id, message_id: message.id, message_ids: [message.id], flags: [], user_id: 3 };
  if (one.kind === "edit") {
    replace({ content: `<p>edited ${id}</p>`, last_edit_timestamp: id });
    const what = { rendered_content: `<p>edited ${id}</p>`, edit_timestamp: id, rendering_only: false };
    return { ...base, ...what } as unknown as Events["update_message"];
  }
  if (message.type === "private") return null;
  const place = { stream_id: message.stream_id, orig_subject: message.subject };
  replace({ stream_id: one.channelId, subject: one.topic, last_moved_timestamp: id });
  const target = { new_stream_id: one.channelId, subject: one.topic };
  return {
    ...base,
    ...place,
    ...target,
    edit_timestamp: id,
    rendering_only: false,
  } as unknown as Events["update_message"];
}

const fetched = (server: Naive, terms: readonly Term[]) => ({
  messages: server.page(terms),
  found_oldest: true,
  found_newest: true,
});

t.test("lists that follow events equal lists that are fetched again", (t) => {
  let followed = 0;
  let refetched = 0;
  // Without the list of everything, some messages are unknown when they are moved.
  const opened = fc.subarray([...narrows], { minLength: 1 });
  fc.assert(
    fc.property(opened, fc.array(step, { maxLength: 60, size: "max" }), (narrows, steps) => {
      const server = new Naive();
      let store: MessageStore = noMessages;
      for (const terms of narrows) {
        store = withPage(store, { key: narrowKey(terms), terms }, fetched(server, terms), "around", me);
      }
      for (const [index, one] of steps.entries()) {
        const event = play(server, one, index + 1);
        if (event !== null) store = applyToMessages(store, event, me);
        for (const terms of narrows) {
          const key = narrowKey(terms);
          // A list that says so is fetched again; one by flags changes only when it is.
          if (store.lists.get(key)?.isStale !== false || terms[0]?.operator === "is") {
            store = withPage(store, { key, terms }, fetched(server, terms), "around", me);
            refetched++;
          } else followed++;
          const shown = messagesOf(store, key);
          const expected = server.page(terms);
          if (JSON.stringify(shown.map(plain)) !== JSON.stringify(expected.map(plain))) {
            throw new Error(
              `${key}: ${JSON.stringify(shown.map(plain))} instead of ${JSON.stringify(expected.map(plain))}`,
            );
          }
        }
      }
    }),
    { seed: seedOf(t) },
  );
  t.ok(followed > 2 * refetched, `${followed} lists followed, ${refetched} were fetched again`);
  t.end();
});

function plain({ id, content, stream_id, subject, flags }: Message) {
  return { id, content, stream_id, subject, flags };
}

t.test("a message that arrives while a page is on its way is not lost", (t) => {
  const terms: readonly Term[] = [{ operator: "channel", operand: 1 }];
  const key = narrowKey(terms);
  const message = messageOf(5, 1, "a");
  const event = { type: "message", id: 1, message, flags: [] } as unknown as Events["message"];
  const before = applyToMessages(noMessages, event, me);
  const page = { messages: [messageOf(4, 1, "a")], found_oldest: true, found_newest: true };
  const store = withPage(before, { key, terms }, page, "around", me);
  t.strictSame(store.lists.get(key)?.ids, [4, 5]);
  t.end();
});

t.test("a page that does not continue the list any more leaves it as it is", (t) => {
  const terms: readonly Term[] = [{ operator: "channel", operand: 1 }];
  const name = { key: narrowKey(terms), terms };
  const of = (...ids: readonly number[]) => ids.map((id) => messageOf(id, 1, "a"));
  const ends = { found_oldest: false, found_newest: false };
  const idsIn = (store: MessageStore) => store.lists.get(name.key)?.ids;
  const opened = withPage(noMessages, name, { messages: of(11, 12), ...ends }, "around", me);
  const replaced = withPage(opened, name, { messages: of(31, 32), ...ends }, "around", me);
  const newer = { messages: of(13, 14), anchor: 12, ...ends };
  const older = { messages: of(9, 10), anchor: 11, ...ends };
  t.strictSame(idsIn(withPage(opened, name, newer, "newer", me)), [11, 12, 13, 14]);
  t.strictSame(idsIn(withPage(opened, name, older, "older", me)), [9, 10, 11, 12]);
  for (const [page, side] of [
    [newer, "newer"],
    [older, "older"],
  ] as const) {
    t.strictSame(idsIn(withPage(replaced, name, page, side, me)), [31, 32], "no hole");
    t.equal(idsIn(withPage(noMessages, name, page, side, me)), undefined, "the list was dropped meanwhile");
  }
  const gone = { type: "delete_message", id: 1, message_type: "stream", message_ids: [12] };
  const shorter = applyToMessages(opened, gone as unknown as Events["delete_message"], me);
  t.strictSame(idsIn(withPage(shorter, name, newer, "newer", me)), [11], "it is fetched from the new end");
  t.end();
});

t.test("a list stays while the messages of another topic are moved into it", (t) => {
  const named = (topic: string) => {
    const terms: readonly Term[] = [
      { operator: "channel", operand: 1 },
      { operator: "topic", operand: topic },
    ];
    return { key: narrowKey(terms), terms };
  };
  const count = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const merge = (
    a: { readonly ids: readonly number[]; readonly ends?: readonly [boolean, boolean] },
    b: { readonly ids: readonly number[]; readonly ends?: readonly [boolean, boolean] },
  ) => {
    let store: MessageStore = noMessages;
    for (const [topic, { ids, ends = [true, true] }] of [["a", a] as const, ["b", b] as const]) {
      const messages = ids.map((id) => messageOf(id, 1, topic));
      const page = { messages, found_oldest: ends[0], found_newest: ends[1], anchor: ids[0] ?? 0 };
      store = withPage(store, named(topic), page, "around", me);
    }
    const what = { message_id: a.ids[0], message_ids: a.ids, stream_id: 1, orig_subject: "a", subject: "b" };
    const event = { type: "update_message", id: 1, ...what, propagate_mode: "change_all", edit_timestamp: 1 };
    store = applyToMessages(store, event as unknown as Events["update_message"], me);
    t.notOk(store.lists.has(named("a").key), "nothing is at the old place");
    return store.lists.get(named("b").key);
  };
  const whole = merge({ ids: [201, 203] }, { ids: count(100, 119) });
  t.strictSame(whole?.ids, [...count(100, 119), 201, 203]);
  t.strictSame([whole?.foundOldest, whole?.foundNewest, whole?.isStale], [true, true, true]);
  t.equal(whole?.anchor, 100, "it is where it was opened");
  const ends = (a: readonly [boolean, boolean], b: readonly [boolean, boolean]) => {
    const list = merge({ ids: [201, 203], ends: a }, { ids: [100, 202], ends: b });
    return [list?.foundOldest, list?.foundNewest];
  };
  t.strictSame(ends([true, false], [true, true]), [true, false], "messages of the other list may be missing");
  t.strictSame(ends([true, true], [false, true]), [false, true]);
  const { list_grown_messages_max: most } = messageLimits;
  const long = merge({ ids: count(1_001, 1_000 + most / 2) }, { ids: count(1, most / 2) });
  t.equal(long?.ids.length, most);
  const longer = merge({ ids: count(1_001, 1_001 + most / 2) }, { ids: count(1, most / 2) });
  t.strictSame(longer?.ids, count(1, most / 2), "too many to render: the list that was there");
  t.end();
});

t.test("what is muted leaves the lists that hide it, and comes back when it is fetched", (t) => {
  const muting = (topics: readonly string[], isWhole = false): Reader => ({
    ...me,
    isChannelMuted: () => isWhole,
    isTopicMuted: (_channelId, topic) => isWhole || topics.includes(topic),
  });
  const lists = [[], home, [{ operator: "channel", operand: 1 }], [{ operator: "is", operand: "starred" }]];
  const messages = [messageOf(1, 1, "a"), messageOf(2, 1, "b")].map((one) => ({ ...one, flags: ["starred"] }));
  let store: MessageStore = noMessages;
  for (const terms of lists) {
    const page = { messages, found_oldest: true, found_newest: true };
    store = withPage(store, { key: narrowKey(terms), terms }, page as never, "around", me);
  }
  const idsAfter = (reader: Reader) => {
    const next = remuted(store, reader);
    return lists.map((terms) => next.lists.get(narrowKey(terms))?.ids);
  };
  t.strictSame(idsAfter(muting(["a"])), [[2], [2], [2], [1, 2]]);
  t.strictSame(idsAfter(muting([], true)), [[], [], [1, 2], [1, 2]], "a muted channel is whole in its own list");
  const stale = [...remuted(store, me).lists.values()].map(({ isStale }) => isStale);
  t.strictSame(stale, [true, true, true, false], "what is not muted any more is fetched");
  const message = messageOf(3, 1, "a");
  const event = { type: "message", id: 1, message, flags: [] } as unknown as Events["message"];
  const next = applyToMessages(store, event, muting(["a"]));
  t.strictSame(
    lists.map((terms) => next.lists.get(narrowKey(terms))?.ids.includes(3)),
    [false, false, false, false],
  );
  t.end();
});

t.test("a list of starred messages is fetched again when a star brings one", (t) => {
  const terms: readonly Term[] = [{ operator: "is", operand: "starred" }];
  const name = { key: narrowKey(terms), terms };
  const page = { messages: [{ ...messageOf(1, 1, "a"), flags: ["starred"] }], found_oldest: true, found_newest: true };
  const store = withPage(noMessages, name, page as never, "around", me);
  const starred = (id: number) => {
    const what = { op: "add", operation: "add", flag: "starred", messages: [id], all: false } as const;
    return applyToMessages(store, { type: "update_message_flags", id: 1, ...what }, me).lists.get(name.key)?.isStale;
  };
  t.strictSame([starred(1), starred(2)], [false, true]);
  t.end();
});

t.test("a list and the number of lists stay bounded", (t) => {
  const terms: readonly Term[] = [];
  const key = narrowKey(terms);
  const of = (first: number) => Array.from({ length: 100 }, (_, index) => messageOf(first + index, 1, "a"));
  let store = noMessages;
  const ends = { found_oldest: false, found_newest: true };
  store = withPage(store, { key, terms }, { messages: of(10_000), ...ends }, "around", me);
  for (let page = 1; page <= 12; page++) {
    const older = { messages: of(10_000 - page * 100), anchor: 10_100 - page * 100, ...ends };
    store = withPage(store, { key, terms }, older, "older", me);
  }
  const list = store.lists.get(key);
  t.equal(list?.ids.length, messageLimits.list_messages_max);
  t.equal(list?.ids[0], 8_800, "the page that was fetched last is there");
  t.equal(list?.foundNewest, false, "the other end is fetched again when somebody goes there");
  t.ok(store.byId.size < 2 * messageLimits.list_messages_max + 1_000, "messages that no list shows are dropped");
  const grown: readonly Term[] = [{ operator: "is", operand: "dm" }];
  const start = { messages: [{ ...messageOf(1, 1, "a"), type: "private" }], found_oldest: true, found_newest: true };
  let growing = withPage(noMessages, { key: "grown", terms: grown }, start as never, "around", me);
  for (let id = 2; id <= messageLimits.list_grown_messages_max + 1; id++) {
    const message = { ...messageOf(id, 1, "a"), type: "private" };
    growing = applyToMessages(growing, { type: "message", id, message, flags: [] } as unknown as Events["message"], me);
    t.ok((growing.lists.get("grown")?.ids.length ?? 0) <= messageLimits.list_grown_messages_max);
  }
  const { ids = [], foundOldest } = growing.lists.get("grown") ?? {};
  t.strictSame([ids.length, ids.at(-1), foundOldest], [400, 801, false], "the oldest are fetched again by scrolling");
  for (let index = 0; index < messageLimits.lists_max + 5; index++) {
    const other: readonly Term[] = [{ operator: "channel", operand: index }];
    const page = { messages: [messageOf(index + 1, index, "a")], found_oldest: true, found_newest: true };
    store = withPage(store, { key: narrowKey(other), terms: other }, page, "around", me);
  }
  t.equal(store.lists.size, messageLimits.lists_max);
  t.equal(store.byId.size, messageLimits.lists_max, "messages that no list shows are dropped");
  t.end();
});

t.test("a page that too many events have overtaken cannot be brought up to date", (t) => {
  const recording = new Recording();
  const event = { type: "delete_message", id: 1, message_type: "stream", message_ids: [1] } as never;
  for (let count = 0; count < messageLimits.recorded_events_max; count++) recording.add(event);
  t.ok(recording.isWhole);
  recording.add(event);
  t.notOk(recording.isWhole);
  t.equal(recording.events.length, messageLimits.recorded_events_max);
  t.end();
});

t.test("polls and to-do lists follow their submessages, and skip what is malformed", (t) => {
  const sub = (sender_id: number, content: unknown, id: number) => ({
    id,
    message_id: 1,
    sender_id,
    msg_type: "widget",
    content: typeof content === "string" ? content : JSON.stringify(content),
  });
  const poll = widgetOf({
    submessages: [
      sub(2, { widget_type: "poll", extra_data: { question: "Where?", options: ["Corner"] } }, 1),
      sub(3, { type: "new_option", idx: 1, option: "Home" }, 2),
      sub(2, { type: "vote", key: "3,1", vote: 1 }, 3),
      sub(4, { type: "vote", key: "canned,0", vote: 1 }, 4),
      sub(4, { type: "vote", key: "canned,0", vote: -1 }, 5),
      sub(4, "no JSON", 6),
      sub(4, { type: "no such step" }, 7),
    ],
  });
  t.strictSame(poll, {
    kind: "poll",
    question: "Where?",
    options: [
      { key: "canned,0", text: "Corner", voters: [] },
      { key: "3,1", text: "Home", voters: [2] },
    ],
  });
  t.equal(widgetOf({ submessages: [sub(2, "[]", 1)] }), null);
  t.end();
});
