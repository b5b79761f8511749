/**
 * Bounds of the search index and of searches (S3; architecture, Search): what one slice does, and that searches beyond
 * the bounds still find everything.
 */
import t, { type Test } from "tap";
import { readNarrow, termsOf } from "../../domain/narrow/narrow.ts";
import { readSearch } from "../../domain/search/query.ts";
import { SoughtWord } from "../../domain/search/sought-words.ts";
import { messageTerms, senderTerms, topicTerms } from "../../domain/search/terms.ts";
import { indexed } from "../../domain/search/words.ts";
import { limits } from "../../schemas/limits.ts";
import { type SearchStateRecord, searchPendingKinds } from "../../schemas/search.ts";
import { nearTerms } from "../../src/queries/index-terms.ts";
import { fetchMessages, MessageWalk } from "../../src/queries/message-fetch.ts";
import { finished, PassBudget } from "../../src/queries/passes.ts";
import { SearchedWords } from "../../src/queries/searched-words.ts";
import { SearchIndexer, wholeSlice } from "../../src/runtime/search-indexer.ts";
import {
  begun,
  fileSegment,
  mergeSlice,
  newMerge,
  removeLeftovers,
  type SearchChange,
  searchStateKey,
  stateOf,
} from "../../src/store/search-index.ts";
import { fillMessages, fillTopics, messageRow, setNewestMessage } from "../support/filled.ts";
import { fill, rowsFor } from "../support/rows.ts";
import { generalId, type OpenRealm, openNewRealm, ownerId } from "../support/runtime.ts";

function stateIn({ lmdb }: OpenRealm): SearchStateRecord {
  return stateOf(lmdb.get("searchState", searchStateKey), "english");
}

function apply({ lmdb }: OpenRealm, changes: readonly SearchChange[]): void {
  lmdb.transaction(() => {
    for (const { table, key, row } of changes) {
      if (row === null) lmdb.remove(table, key);
      else lmdb.put(table, key, row);
    }
  });
}

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
const postings = (changes: readonly SearchChange[]) => changes.filter(({ table }) => table === "searchPostings").length;

/** The result of merging an index of these postings with nothing: the postings rows that each slice writes. */
function merged(opened: OpenRealm, terms: ReadonlyMap<string, readonly number[]>): number[] {
  apply(opened, fileSegment(stateIn(opened), terms, 0));
  const state = stateIn(opened);
  apply(opened, [
    { table: "searchState", key: searchStateKey, row: begun(state, newMerge(state, state.segments, 1, false)) },
  ]);
  const slices: number[] = [];
  for (let { merge } = stateIn(opened); merge !== null; { merge } = stateIn(opened)) {
    const changes = mergeSlice(opened.lmdb, stateIn(opened), merge, wholeSlice);
    slices.push(postings(changes));
    apply(opened, changes);
  }
  return slices;
}

t.test("[S3] search_block_ids_max: one row holds that many ids of a term, the next id starts a new row", async (t) => {
  const opened = await openNewRealm(t);
  const max = limits.search_block_ids_max;
  const rows = (count: number) => postings(fileSegment(stateIn(opened), new Map([["w", upTo(count)]]), count));
  t.strictSame([rows(max), rows(max + 1)], [1, 2]);
  fillMessages(opened.realm, 1, max + 1);
  t.strictSame(merged(opened, new Map([["w", upTo(max + 1)]])), [2], "after a merge, too");
});

t.test("[S3] search_postings_per_slice_max: a merge copies that many per slice, then the rest", async (t) => {
  const max = limits.search_postings_per_slice_max;
  const blocks = Math.ceil(max / limits.search_block_ids_max);
  const opened = await openNewRealm(t);
  fillMessages(opened.realm, 1, max + 1);
  t.strictSame(
    merged(opened, new Map([["w", upTo(max)]])),
    [blocks, 0],
    "at the bound the next slice only completes it",
  );
  const other = await openNewRealm(t);
  fillMessages(other.realm, 1, max + 1);
  t.strictSame(merged(other, new Map([["w", upTo(max + 1)]])), [blocks, 1], "one over");
});

t.test("[S3] search_rows_per_slice_max: a slice writes or removes at most that many rows", async (t) => {
  const max = limits.search_rows_per_slice_max;
  const terms = (count: number) => new Map(upTo(count).map((n) => [`w${n}`, [1]] as const));
  for (const [count, expected] of [
    [max, [max, 0]],
    [max + 1, [max, 1]],
  ] as const) {
    const opened = await openNewRealm(t);
    fillMessages(opened.realm, 1, 1);
    t.strictSame(merged(opened, terms(count)), expected);
    const removed: number[] = [];
    while (stateIn(opened).leftovers.length > 0) {
      const changes = removeLeftovers(opened.lmdb, stateIn(opened), wholeSlice);
      removed.push(postings(changes));
      apply(opened, changes);
    }
    t.strictSame(removed, expected);
  }
});

/** An index that claims to contain every message, and contains none. */
function pretendFiled(opened: OpenRealm): void {
  const state = { ...stateIn(opened), messagesUpTo: 1_000_000, topicsUpTo: 1_000_000 };
  fill(opened.realm, "searchState", [[searchStateKey, state]]);
}

async function found({ realm: { view } }: OpenRealm, operand: string): Promise<number[]> {
  const owner = view.users.get(ownerId);
  if (owner === undefined) throw new Error("no owner");
  const narrowed = readNarrow(view, owner, termsOf([["search", operand]]));
  if ("kind" in narrowed) throw new Error(narrowed.msg);
  const { messages } = await finished(new MessageWalk(view, owner, narrowed, () => false).collect(1e9, -1, 1000));
  return messages.map(({ id }) => id);
}

t.test(
  "[S3] search_pending_read_max: that many edited messages are merged; with more, all messages are scanned, and none is missed",
  async (t) => {
    const opened = await openNewRealm(t);
    const { realm } = opened;
    const max = limits.search_pending_read_max;
    fillTopics(realm, 1);
    pretendFiled(opened);
    setNewestMessage(realm, max + 1);
    const edited = { content: "needle", rendered: "<p>needle</p>" };
    fill(
      realm,
      "messages",
      [max, max + 1].map((id) => [id, messageRow(id, 1, edited)] as const),
    );
    const pending = (count: number, first: number) =>
      fill(
        realm,
        "searchPending",
        rowsFor<"searchPending">(count, (id) => [[searchPendingKinds.message, id], {}], first),
      );
    pending(max - 1, 1);
    t.strictSame(await found(opened, "needle"), []);
    pending(1, max);
    t.strictSame(await found(opened, "needle"), [max], "at the bound");
    pending(1, max + 1);
    t.strictSame(await found(opened, "needle"), [max + 1, max], "one over");
  },
);

t.test(
  "[S3] search_topics_merged_max: that many topics are merged; with one more all messages are scanned, with the same result",
  async (t) => {
    const opened = await openNewRealm(t);
    const { realm } = opened;
    const max = limits.search_topics_merged_max;
    fillTopics(realm, max + 1);
    fillMessages(realm, 7, 3);
    pretendFiled(opened);
    setNewestMessage(realm, 3);
    const named = (count: number, first = 1) =>
      fill(
        realm,
        "searchTopics",
        rowsFor<"searchTopics">(count, (id) => [[indexed("topic"), id], {}], first),
      );
    const isMerged = () => {
      const words = new SearchedWords(realm.view, readSearch("topic", "english"));
      words.prepare(new PassBudget());
      return words.walked(false).length > 0;
    };
    named(max);
    t.strictSame([isMerged(), await found(opened, "topic")], [true, [3, 2, 1]], "at the bound");
    named(1, max + 1);
    t.strictSame([isMerged(), await found(opened, "topic")], [false, [3, 2, 1]], "one over");
  },
);

function startIndexer({ realm, clock }: OpenRealm): void {
  const alarm = {
    bug: (error: unknown) => {
      throw error;
    },
    fatal: (error: unknown): never => {
      throw error;
    },
    warn: () => undefined,
  };
  const terms = { ofMessage: messageTerms, ofTopic: topicTerms, everyMessage: senderTerms };
  new SearchIndexer(realm, { clock, alarm, terms });
}

t.test(
  "[S3] search_tail_messages_max: with more unindexed messages, indexing continues in small slices while users post",
  async (t) => {
    const opened = await openNewRealm(t);
    const { realm, clock } = opened;
    const max = limits.search_tail_messages_max;
    const slice = limits.search_segment_messages / limits.search_slices_of_one_while_posting;
    fillMessages(realm, 1, slice + limits.search_segment_messages);
    startIndexer(opened);
    const filedAfter = (newestId: number) => {
      setNewestMessage(realm, newestId);
      clock.advance(limits.search_poll_ms);
      return stateIn(opened).messagesUpTo;
    };
    t.equal(filedAfter(max - 1), 0);
    t.equal(filedAfter(max), 0, "at the bound");
    t.equal(filedAfter(max + 1), slice, "one above: a post waits for at most one small slice");
    clock.advance(2 * limits.search_poll_ms);
    t.equal(stateIn(opened).messagesUpTo, slice + limits.search_segment_messages, "no posts: full slices again");
  },
);

t.test("[S3] the time between two posts is not taken for quiet: slices stay small", async (t) => {
  const opened = await openNewRealm(t);
  const { realm, clock } = opened;
  const slice = limits.search_segment_messages / limits.search_slices_of_one_while_posting;
  const stored = 2 * limits.search_tail_messages_max;
  fillMessages(realm, 1, stored);
  startIndexer(opened);
  setNewestMessage(realm, stored);
  clock.advance(limits.search_poll_ms);
  t.equal(stateIn(opened).messagesUpTo, slice);
  setNewestMessage(realm, stored + 1);
  // Two looks, of which the second one finds no newer message.
  clock.advance(limits.search_poll_ms / 100);
  t.equal(stateIn(opened).messagesUpTo, 3 * slice);
});

t.test("a word is found in one topic of many with one read per full row and pages of the topic", async (t) => {
  const opened = await openNewRealm(t);
  const { realm } = opened;
  const owner = realm.view.users.get(ownerId);
  if (owner === undefined) throw new Error("no owner");
  // Every fifth message contains the word, and one of a hundred is in the topic.
  const [newest, each] = [50_000, 100];
  fillTopics(realm, 1, 7);
  const ids = upTo(newest / each).map((n) => n * each);
  const index = { senderId: 1, traits: 0 };
  fill(
    realm,
    "conversationMessages",
    ids.map((id) => [[7, id], index] as const),
  );
  const text = { content: "found", rendered: "<p>found</p>" };
  fill(
    realm,
    "messages",
    ids.map((id) => [id, messageRow(id, 7, text)] as const),
  );
  const inWord = upTo(newest / 5).map((n) => n * 5);
  apply(opened, fileSegment(stateIn(opened), new Map([[indexed("found"), inWord]]), newest));
  setNewestMessage(realm, newest);
  const reads = new Map<string, number>();
  const view = new Proxy(realm.view, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (table: unknown, ...rest: unknown[]) => {
        const read = `${String(name)} ${String(table)}`;
        reads.set(read, (reads.get(read) ?? 0) + 1);
        return value.call(target, table, ...rest);
      };
    },
  });
  const narrowed = readNarrow(
    view,
    owner,
    termsOf([
      ["channel", generalId],
      ["topic", "topic 7"],
      ["search", "found"],
    ]),
  );
  if ("kind" in narrowed) throw new Error(narrowed.msg);
  const { messages, isExhausted } = await finished(
    new MessageWalk(view, owner, narrowed, () => false).collect(newest, -1, 999),
  );
  t.strictSame([messages.map(({ id }) => id).reverse(), isExhausted], [ids, true]);
  const rows = Math.ceil(inWord.length / limits.search_block_ids_max);
  t.ok((reads.get("rows searchPostings") ?? 0) <= rows + 2, `${reads.get("rows searchPostings")} for ${rows} rows`);
  t.ok((reads.get("keys conversationMessages") ?? 0) <= 12, `${reads.get("keys conversationMessages")} pages`);
});

/** One indexed match, one unindexed match, and then unindexed messages that do not match. */
async function farBehind(t: Test, { unmatched, topics }: { readonly unmatched: number; readonly topics: number }) {
  const opened = await openNewRealm(t);
  const { realm } = opened;
  fillTopics(realm, topics);
  fillMessages(realm, 1, 2 + unmatched);
  const needle = { content: "needle !?", rendered: "<p>needle !?</p>" };
  fill(
    realm,
    "messages",
    [1, 2].map((id) => [id, messageRow(id, 1, needle)] as const),
  );
  apply(opened, fileSegment(stateIn(opened), new Map([[indexed("needle"), [1]]]), 1));
  setNewestMessage(realm, 2 + unmatched);
  return opened;
}

async function searched({ realm: { view } }: OpenRealm, operand: string) {
  const owner = view.users.get(ownerId);
  if (owner === undefined) throw new Error("no owner");
  const narrowed = readNarrow(view, owner, termsOf([["search", operand]]));
  if ("kind" in narrowed) throw new Error(narrowed.msg);
  const { messages, isExhausted } = await finished(
    new MessageWalk(view, owner, narrowed, () => false).collect(1e9, -1, 1000),
  );
  return [messages.map(({ id }) => id), isExhausted];
}

/** Short messages that use up `search_unindexed_passes_max`: their rows, and few of them by their characters. */
const mostUnindexed =
  (limits.search_unindexed_passes_max * limits.narrow_rows_per_pass_max) / limits.search_rows_per_message;

t.test(
  "[S3] search_unindexed_passes_max: a search examines that much unindexed in vain, then only indexed messages",
  async (t) => {
    const opened = await farBehind(t, { unmatched: 0.9 * mostUnindexed, topics: 1 });
    t.strictSame(await searched(opened, "needle"), [[2, 1], true], "below the bound everything is found");
    const newest = 2 + mostUnindexed;
    fillMessages(opened.realm, 1, newest - 0.9 * mostUnindexed, 3 + 0.9 * mostUnindexed);
    setNewestMessage(opened.realm, newest);
    t.strictSame(await searched(opened, "needle"), [[1], false], "not exhausted: messages were left out");
    t.strictSame(await searched(opened, '"!?"'), [[], false], "a search without words ends there");
  },
);

t.test(
  "[S3] search_unindexed_passes_max: beyond it the index is used even if too many topics are new to merge them",
  async (t) => {
    const opened = await farBehind(t, { unmatched: mostUnindexed, topics: limits.search_topics_merged_max + 1 });
    t.strictSame(await searched(opened, "needle"), [[1], false]);
  },
);

t.test(
  "[S3, D269] search_unindexed_passes_max: a change of flags in a narrow stops there, and repeats from there reach every match",
  async (t) => {
    const max = mostUnindexed;
    const { realm } = await farBehind(t, { unmatched: max + 100, topics: 1 });
    const newest = max + 102;
    const needle = { content: "needle !?", rendered: "<p>needle !?</p>" };
    fill(realm, "messages", [[newest, messageRow(newest, 1, needle)]]);
    const owner = realm.view.users.get(ownerId);
    if (owner === undefined) throw new Error("no owner");
    for (const operand of ["needle", '"!?"']) {
      const narrowed = readNarrow(realm.view, owner, termsOf([["search", operand]]));
      if ("kind" in narrowed) throw new Error(narrowed.msg);
      const fetch = (range: { readonly anchor: number; readonly before: number; readonly after: number }) =>
        finished(
          fetchMessages(new MessageWalk(realm.view, owner, narrowed, () => false, { stopsUnindexed: true }), {
            ...range,
            includesAnchor: false,
          }),
        );
      const up = await fetch({ anchor: 0, before: 0, after: 1000 });
      t.strictSame([up.messages.map(({ id }) => id), up.foundNewest], [[1, 2], false]);
      const stopped = up.stoppedNewer ?? 0;
      t.ok(stopped > 0.9 * max && stopped <= 2 + max, `stopped at ${stopped}`);
      const rest = await fetch({ anchor: stopped, before: 0, after: 1000 });
      t.strictSame([rest.messages.map(({ id }) => id), rest.stoppedNewer, rest.foundNewest], [[newest], null, true]);
      const down = await fetch({ anchor: newest + 1, before: 1000, after: 0 });
      t.strictSame([down.messages.map(({ id }) => id), down.foundOldest], [[newest], false]);
      const oldest = down.stoppedOlder ?? 0;
      t.ok(oldest >= 102 && oldest < 102 + 0.1 * max, `stopped at ${oldest}`);
      const older = await fetch({ anchor: oldest, before: 1000, after: 0 });
      t.strictSame([older.messages.map(({ id }) => id), older.stoppedOlder, older.foundOldest], [[1, 2], null, true]);
    }
  },
);

t.test(
  "[S3] search_beginning_terms_max: that many terms are merged; with one more messages are scanned, with the same result",
  async (t) => {
    const opened = await openNewRealm(t);
    const { realm } = opened;
    const max = limits.search_beginning_terms_max;
    fillTopics(realm, 1);
    const rows = (id: number) => [id, messageRow(id, 1, { content: `pre${id}`, rendered: `<p>pre${id}</p>` })] as const;
    fill(realm, "messages", upTo(max + 1).map(rows));
    setNewestMessage(realm, max + 1);
    const terms = (count: number) => new Map(upTo(count).map((id) => [`pre${id}`, [id]] as const));
    const isMerged = () => {
      const words = new SearchedWords(realm.view, readSearch("pre", "english"));
      words.prepare(new PassBudget());
      return words.walked(false).length > 0;
    };
    apply(opened, fileSegment(stateIn(opened), terms(max), max));
    t.strictSame([isMerged(), (await found(opened, "pre")).length], [true, max + 1], "at the bound");
    apply(opened, fileSegment(stateIn(opened), new Map([[`pre${max + 1}`, [max + 1]]]), max + 1));
    t.strictSame([isMerged(), (await found(opened, "pre")).length], [false, max + 1], "one over");
  },
);

t.test("[S3] search_typo_looks_max, search_typo_terms_max: no more terms are looked up and found", async (t) => {
  const opened = await openNewRealm(t);
  const letters = [..."abcdefghijklmnopqrstuvwxyz"];
  const near = new Map(letters.map((letter, at) => [`deplo${letter}`, [at + 1]] as const));
  apply(opened, fileSegment(stateIn(opened), near, letters.length));
  const { segments } = stateIn(opened);
  const word = new SoughtWord("deploy", "form", "english").forgiving();
  const looked = (most: number) => {
    const budget = new PassBudget();
    return [nearTerms(word, { view: opened.realm.view, segments, budget, most }).length, budget.seeks];
  };
  t.equal(looked(limits.search_typo_looks_max)[0], limits.search_typo_terms_max);
  t.strictSame(looked(1), [0, 1]);
  t.ok(limits.search_typo_looks_max <= 4 * limits.narrow_rows_per_pass_max, "in one pass");
});
