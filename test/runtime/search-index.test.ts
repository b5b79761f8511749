/**
 * The search index (architecture, Search) is built in the background and never changes the result of a search. Every
 * search is compared with a scan of all messages, while the index is behind, merging, sweeping, recovering from a
 * crash, or missing.
 */
import t, { type Test as TapTest } from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { parseContent } from "../../domain/markdown/render.ts";
import { readNarrow, termsOf } from "../../domain/narrow/narrow.ts";
import { messageTerms, senderTerms, topicTerms } from "../../domain/search/terms.ts";
import { limits } from "../../schemas/limits.ts";
import type { MessageEdit } from "../../schemas/message-changes.ts";
import type { MessageRecord } from "../../schemas/messages.ts";
import { searchPendingKinds } from "../../schemas/search.ts";
import { MessageWalk } from "../../src/queries/message-fetch.ts";
import { finished } from "../../src/queries/passes.ts";
import { SearchIndexer } from "../../src/runtime/search-indexer.ts";
import { searchStateIn, searchStateKey, startedAnew, stateOf } from "../../src/store/search-index.ts";
import { commands, type OpenRealm, openNewRealm, ownerId } from "../support/runtime.ts";

const vocabulary = "apple banana cherry damson elder fig grape hazel iris juniper".split(" ");

/** Words of message n: two that depend on it, one unique, one common to all. */
function contentOf(n: number): string {
  return `all ${vocabulary[n % 7]} ${vocabulary[(n * 3) % 10]} own${n}`;
}

function indexerOf({ realm, clock, bugs }: OpenRealm): SearchIndexer {
  const terms = { ofMessage: messageTerms, ofTopic: topicTerms, everyMessage: senderTerms };
  const alarm = {
    bug: (error: unknown) => {
      bugs.push({ error, command: null });
    },
    fatal: (error: unknown): never => {
      throw error;
    },
    warn: () => undefined,
  };
  return new SearchIndexer(realm, { clock, alarm, terms });
}

async function post(
  opened: OpenRealm,
  from: number,
  to: number,
  topic = (n: number) => `topic ${n % 5}`,
): Promise<void> {
  const pending = [];
  for (let n = from; n < to; n++) pending.push(opened.ask(commands.post(topic(n), contentOf(n))));
  for (const result of await Promise.all(pending)) if (result.kind !== "ok") throw new Error(JSON.stringify(result));
}

async function change(opened: OpenRealm, id: number, to: { content?: string; topic?: string }): Promise<void> {
  const { content: text, topic = null } = to;
  const parsed = parseContent(text ?? "", { linkifiers: [], translateEmoticons: false });
  const edit: MessageEdit = {
    content: text === undefined ? null : { text, parsed },
    topic,
    channelId: null,
    propagateMode: topic === null ? "change_one" : "change_all",
    notifiesOldThread: false,
    notifiesNewThread: false,
    prevContentSha256: null,
  };
  const result = await opened.ask(command({ actor: "message", id }, "message.edit", edit, ownerId));
  if (result.kind !== "ok") throw new Error(JSON.stringify(result));
}

function stateIn(opened: OpenRealm) {
  return stateOf(opened.lmdb.get("searchState", searchStateKey), "english");
}

/** Runs slices until nothing is left to do. */
function settle(opened: OpenRealm, indexer: SearchIndexer): number {
  let slices = 0;
  while (indexer.step()) if (++slices > 10_000) throw new Error("it never ends");
  if (opened.bugs.length > 0) throw opened.bugs[0]?.error;
  return slices;
}

type Terms = Parameters<typeof termsOf>[0];

async function found(opened: OpenRealm, terms: Terms, { start = 1e15, step = -1 as 1 | -1, count = 100_000 } = {}) {
  const { view } = opened.realm;
  const reader = view.users.get(ownerId);
  if (reader === undefined) throw new Error("no owner");
  const narrowed = readNarrow(view, reader, termsOf(terms));
  if ("kind" in narrowed) throw new Error(narrowed.msg);
  const { messages } = await finished(new MessageWalk(view, reader, narrowed, () => false).collect(start, step, count));
  return messages.map(({ id }) => id);
}

/** Messages that a full scan finds, newest first. */
function looked(opened: OpenRealm, test: (message: MessageRecord, topic: string) => boolean): number[] {
  const ids: number[] = [];
  opened.lmdb.each("messages", (message) => {
    const topic = opened.lmdb.get("conversations", message.conversationId)?.topic ?? "";
    if (test(message, topic)) ids.push(message.id);
  });
  return ids.reverse();
}

const searches = ["apple", "apple banana", "own7", '"cherry fig"', "all", "absent", "topic 3", "own3 topic", "che"];

/** Newest first; contents in these tests are plain words. */
function plainly(opened: OpenRealm, operand: string): { readonly all: number[]; readonly inTopic: number[] } {
  const words = operand.replaceAll('"', "").split(" ");
  const isPhrase = operand.startsWith('"');
  const isMatch = ({ rendered }: MessageRecord, topic: string) => {
    const content = rendered.replace(/<\/?p>/g, "");
    const known = `${content} ${topic}`.split(" ");
    // The last word finds those that begin with it, too.
    const last = isPhrase || words.join(" ").endsWith(" 3") ? undefined : words.at(-1);
    const isKnown = (word: string) =>
      known.includes(word) || (word === last && known.some((own) => own.startsWith(word)));
    return words.every(isKnown) && (!isPhrase || content.includes(words.join(" ")));
  };
  const inTopic: number[] = [];
  const all = looked(opened, (message, topic) => {
    const isFound = isMatch(message, topic);
    if (isFound && topic === "topic 1") inTopic.push(message.id);
    return isFound;
  });
  return { all, inTopic: inTopic.reverse() };
}

async function agree(t: TapTest, opened: OpenRealm, what: string): Promise<void> {
  for (const operand of searches) {
    const { all, inTopic } = plainly(opened, operand);
    t.strictSame(await found(opened, [["search", operand]]), all, `${what}: ${operand}`);
    const oldest = await found(opened, [["search", operand]], { start: 0, step: 1, count: 3 });
    t.strictSame(oldest, all.slice(-3).reverse(), `${what}, oldest first: ${operand}`);
    const narrow = [
      ["search", operand],
      ["channel", "general"],
      ["topic", "topic 1"],
    ];
    t.strictSame(await found(opened, narrow), inTopic, `${what}, in a topic: ${operand}`);
  }
}

t.test("results are complete while the index is behind, during a merge, and after a crash", async (t) => {
  const opened = await openNewRealm(t);
  const indexer = indexerOf(opened);
  const segment = limits.search_segment_messages;
  await post(opened, 0, segment - 1);
  t.notOk(indexer.step(), "too few for a segment: they are scanned one by one");
  await agree(t, opened, "nothing filed");
  await post(opened, segment - 1, 1.5 * segment);
  t.ok(indexer.step());
  t.equal(stateIn(opened).messagesUpTo, segment);
  await agree(t, opened, "half filed");

  await post(opened, 1.5 * segment, limits.search_segments_merged * segment + 10);
  while (stateIn(opened).merge === null) t.ok(indexer.step());
  indexer.step();
  const { merge } = stateIn(opened);
  t.ok(merge?.after !== null, "a slice of the merge is written");
  await agree(t, opened, "during a merge");

  const crashed = opened.crash(t);
  t.strictSame(stateIn(crashed).merge, merge, "a crash leaves the index at a slice boundary");
  await agree(t, crashed, "after a crash");
  settle(crashed, indexerOf(crashed));
  await agree(t, crashed, "merged after the crash");
  settle(opened, indexer);
  const { segments, leftovers } = stateIn(opened);
  t.strictSame([segments.map(({ level }) => level), leftovers], [[1], []]);
  await agree(t, opened, "merged");
  const rows = (realm: OpenRealm) => realm.lmdb.rows("searchPostings", { limit: 1e6 });
  t.ok(
    rows(opened).every(({ key }) => key[0] === segments[0]?.id),
    "the merged segments are removed",
  );
  t.ok(rows(opened).length < 9 * segment + 200, "a unique word is one row, a common one a few");

  opened.lmdb.transaction(() => {
    opened.lmdb.put("searchState", searchStateKey, startedAnew(stateIn(opened), "english"));
  });
  await agree(t, opened, "started anew");
  t.ok(settle(opened, indexer) > 10);
  const levels = stateIn(opened).segments.map(({ level }) => level);
  t.strictSame(levels, [1]);
  await agree(t, opened, "made anew");
});

t.test("deleted, edited and renamed messages are filtered from results, and swept", async (t) => {
  const opened = await openNewRealm(t);
  const indexer = indexerOf(opened);
  const segment = limits.search_segment_messages;
  await post(opened, 0, 2 * segment, (n) => `topic ${n}`);
  settle(opened, indexer);
  t.equal(stateIn(opened).topicsUpTo > segment, true, "many topics are indexed, too");
  await agree(t, opened, "filed");

  const { lmdb } = opened;
  const conversation = (id: number) => lmdb.get("messages", id)?.conversationId ?? 0;
  lmdb.transaction(() => {
    for (let id = 10; id <= segment; id++) {
      lmdb.remove("conversationMessages", [conversation(id), id]);
      lmdb.remove("channelMessages", [1, id]);
      lmdb.remove("messages", id);
    }
  });
  await change(opened, 5, { content: "own7" });
  await change(opened, 2, { topic: "own7 elder" });
  const again = opened.crash(t);
  await agree(t, again, "changed");
  t.strictSame(
    await found(again, [["search", "own7"]]),
    [8, 5, 2],
    "by its content, its new content and its topic's new name",
  );
  const sweeper = indexerOf(again);
  settle(again, sweeper);
  t.strictSame(again.lmdb.keys("searchPending", { limit: 9 }), [[searchPendingKinds.message, 5]], "few edits wait");
  await agree(t, again, "renamed topics filed");

  again.clock.advance(60 * 60 * 1000);
  t.ok(settle(again, sweeper) > 0, "an hour later, deleted messages are swept");
  const stale = again.lmdb.rows("searchPostings", { limit: 1e6 }).filter(({ key }) => key[1].startsWith("own1"));
  t.ok(stale.length < segment, "the postings of deleted messages are removed");
  await agree(t, again, "swept");
  again.clock.advance(60 * 60 * 1000);
  t.equal(settle(again, sweeper), 0, "once");
});

t.test("edited messages are indexed again when there are many", async (t) => {
  const opened = await openNewRealm(t);
  const indexer = indexerOf(opened);
  const segment = limits.search_segment_messages;
  await post(opened, 0, 2 * segment);
  settle(opened, indexer);
  const { lmdb } = opened;
  for (let id = 1; id <= segment; id++) await change(opened, id, { content: "all elder" });
  await agree(t, opened, "edited");
  settle(opened, indexer);
  t.strictSame(lmdb.keys("searchPending", { limit: 1 }), []);
  t.equal(stateIn(opened).segments.length, 3);
  await agree(t, opened, "filed again");
});

t.test("indexing runs by itself when no user posts, and stops with its realm", async (t) => {
  const opened = await openNewRealm(t);
  indexerOf(opened);
  await post(opened, 0, limits.search_segment_messages);
  opened.clock.advance(limits.search_poll_ms + 200);
  t.equal(stateIn(opened).messagesUpTo, 0, "a message was posted a moment ago");
  opened.clock.advance(limits.search_poll_ms + 200);
  t.equal(stateIn(opened).messagesUpTo, limits.search_segment_messages);
  t.strictSame(opened.bugs, []);
});

t.test("[M5] while the disk is nearly full nothing is indexed, and searches still work", async (t) => {
  let accepts = true;
  const opened = await openNewRealm(t, { acceptsWrites: () => accepts });
  const indexer = indexerOf(opened);
  await post(opened, 0, limits.search_segment_messages);
  accepts = false;
  t.notOk(indexer.step());
  await agree(t, opened, "disk full");
  accepts = true;
  t.ok(indexer.step());
});

t.test("[behaviour 5.3] sender, has and is:mentioned find the same through the index as by a full scan", async (t) => {
  const opened = await openNewRealm(t);
  const made = await opened.ask(commands.createUser("anna@example.com"));
  const anna = made.kind === "ok" ? Number(made.answer["user_id"]) : 0;
  const indexer = indexerOf(opened);
  const segment = limits.search_segment_messages;
  for (let n = 0; n < 2 * segment; n++) {
    const content = n % 50 === 0 ? "https://example.com" : n % 70 === 0 ? "@**all**" : contentOf(n);
    void opened.ask(commands.post("t", content, n % 90 === 0 ? anna : ownerId));
  }
  await opened.idle();
  settle(opened, indexer);
  t.equal(stateIn(opened).segments.length, 2);
  const expected: [Terms, (message: MessageRecord) => boolean][] = [
    [[{ operator: "sender", operand: anna }], ({ senderId }) => senderId === anna],
    [[["has", "link"]], ({ rendered }) => rendered.includes("<a ")],
    [[["is", "mentioned"]], ({ rendered }) => rendered.includes("@all")],
    [
      [["has", "link"], { operator: "sender", operand: anna }],
      (m) => m.senderId === anna && m.rendered.includes("<a "),
    ],
  ];
  for (const [terms, test] of expected) {
    const ids = looked(opened, test);
    t.ok(ids.length > 0);
    t.strictSame(await found(opened, terms), ids);
  }
});

t.test(
  "[behaviour 5.3] forms, beginnings, pairs of characters and forgiven typos are found through the index",
  async (t) => {
    const opened = await openNewRealm(t);
    const indexer = indexerOf(opened);
    const texts = [
      "the deployment",
      "we deployed it",
      "deploy",
      "Crème brûlée",
      "東京タワー",
      "京都",
      "kubernetes",
      "other",
    ];
    const say = async (count: number) => {
      for (let n = 0; n < count; n++) await opened.ask(commands.post("topic", texts[n % texts.length] ?? ""));
    };
    await say(limits.search_segment_messages);
    const first = Math.min(...(await found(opened, [["search", "deploy"]], { step: 1, start: 0, count: 1 })));
    const each = limits.search_segment_messages / texts.length;
    const expected: [operand: string, which: number[]][] = [
      ["deploys ", [0, 1, 2]],
      ["deplo", [0, 1, 2]],
      ["deployme", [0]],
      ['"deploy"', [2]],
      ["creme bru", [3]],
      ["東京", [4]],
      ["京", [4, 5]],
      ["京都", [5]],
      ["タワ", [4]],
      ["kuberntes", []],
    ];
    const check = async (what: string) => {
      for (const [operand, which] of expected) {
        const ids = (await found(opened, [["search", operand]])).map((id) => (id - first) % texts.length);
        t.strictSame([...new Set(ids)].sort(), which, `${what}: ${operand}`);
        t.equal(ids.length, which.length * each, `${what}: ${operand}`);
      }
    };
    await check("nothing filed");
    settle(opened, indexer);
    t.equal(stateIn(opened).segments.length, 1);
    await check("all filed");
    const forgiven = await foundForgiving(opened, "kuberntes ");
    t.strictSame([...new Set(forgiven.map((id) => (id - first) % texts.length))], [6]);
    t.strictSame(
      [...new Set((await foundForgiving(opened, "kubrenetse")).map((id) => (id - first) % texts.length))],
      [6],
    );
    t.strictSame(await foundForgiving(opened, "qwertz"), []);
  },
);

async function foundForgiving({ realm: { view } }: OpenRealm, operand: string): Promise<number[]> {
  const reader = view.users.get(ownerId);
  if (reader === undefined) throw new Error("no owner");
  const narrowed = readNarrow(view, reader, termsOf([["search", operand]]));
  if ("kind" in narrowed || narrowed.forgiving === null) throw new Error("nothing to forgive");
  const walk = new MessageWalk(view, reader, narrowed.forgiving(), () => false);
  return (await finished(walk.collect(1e15, -1, 100_000))).messages.map(({ id }) => id);
}

t.test("another search_language, or another format, rebuilds the index", async (t) => {
  const opened = await openNewRealm(t);
  const indexer = indexerOf(opened);
  await post(opened, 0, limits.search_segment_messages);
  settle(opened, indexer);
  const { messagesUpTo } = stateIn(opened);
  t.ok(messagesUpTo > 0);
  const language = { search_language: "german" } as const;
  const change = command(
    { actor: "realm" },
    "realm.change-settings",
    { settings: language, groups: {}, isWebPublicAllowed: false },
    ownerId,
  );
  t.equal((await opened.ask(change)).kind, "ok");
  const german = () => searchStateIn(opened.realm.view);
  t.match(german(), { language: "german", messagesUpTo: 0, segments: [] });
  await agree(t, opened, "not rebuilt yet");
  settle(opened, indexer);
  t.match(german(), { language: "german", messagesUpTo, leftovers: [] });
  await agree(t, opened, "rebuilt");
  opened.lmdb.transaction(() => opened.lmdb.put("searchState", searchStateKey, { ...german(), format: 1 }));
  t.equal(german().messagesUpTo, 0);
  settle(opened, indexer);
  t.equal(german().messagesUpTo, messagesUpTo);
});
