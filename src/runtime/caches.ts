/**
 * Bounded LRU maps that may grow large but are usually almost empty (S3).
 *
 * The newest entries of channel indexes, decoded: every /register reads them to find unread messages. A tail is loaded
 * on first use, follows the same deltas as projections (M9), and all tails together are bounded.
 */
import { LRUCache } from "lru-cache";
import type { IndexedMessage, IndexRange } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import type { MessageRecord } from "../../schemas/messages.ts";
import type { TableName } from "../../schemas/records.ts";
import type { Lmdb } from "../store/lmdb.ts";
import type { Delta, Follower } from "../store/projections/projection.ts";

/** Marks a row that is known to be absent. */
const absent = Symbol("absent");

type Kept = object | typeof absent;
type Name = string | number;

/** Small rows: bounding their number bounds their memory. One map per table, so that ids need not become strings. */
const smallTables: readonly TableName[] = [
  "topicNames",
  "directNames",
  "conversations",
  // Each read of a message reads its mentions, and checks whether the reader marked anything.
  "messageAlerts",
  "resolveNotices",
  "readStates",
  // Every post reads the sender's policy for the topic; most have none.
  "userTopics",
  // Every recipient of a typing event is looked up; most have not muted anyone.
  "mutedUsers",
];

/** Passed to the library, which would make an object of its defaults for each look-up. */
const usualGet = {};

/** The cached rows of one table. */
class CachedTable {
  readonly #rows: LRUCache<Name, Kept>;
  /**
   * The row that was used last. Reading a message for many readers needs the same few rows again and again,
   * and the library's lookup takes ten times as long as this comparison.
   */
  #lastName: Name | null = null;
  #last: Kept = absent;

  constructor(rows: LRUCache<Name, Kept>) {
    this.#rows = rows;
  }

  get(name: Name): Kept | undefined {
    if (name === this.#lastName) return this.#last;
    const row = this.#rows.get(name, usualGet);
    if (row === undefined) return undefined;
    this.#lastName = name;
    this.#last = row;
    return row;
  }

  peek(name: Name): Kept | undefined {
    return this.#rows.peek(name);
  }

  set(name: Name, row: Kept): void {
    this.#rows.set(name, row);
    this.#lastName = name;
    this.#last = row;
  }

  delete(name: Name): void {
    this.#rows.delete(name);
    if (name === this.#lastName) this.#lastName = null;
  }
}

type ReadRow<R> = (table: TableName, key: unknown) => R | undefined;

/**
 * Rows that nearly every request needs (topic names, conversations, recently read messages), decoded. Updated by the
 * same deltas as projections, right after a command's writes (M9), so it never shows a rejected change. A cached row
 * stays the same object until it changes, so derived data can be cached by its identity (queries/encoded-messages.ts).
 */
export class RowCache {
  readonly #tables: ReadonlyMap<TableName, CachedTable>;
  readonly #messages = new CachedTable(
    new LRUCache<Name, Kept>({
      maxSize: limits.cached_messages_characters_max,
      sizeCalculation: (row) => {
        if (row === absent) return limits.cached_message_overhead_characters;
        const { content, rendered } = row as MessageRecord;
        return 2 * (content.length + rendered.length) + limits.cached_message_overhead_characters;
      },
    }),
  );

  constructor() {
    const small = smallTables.map(
      (table) => [table, new CachedTable(boundedMap<Name, Kept>(limits.cached_rows_per_table_max))] as const,
    );
    this.#tables = new Map<TableName, CachedTable>([...small, ["messages", this.#messages]]);
  }

  /** @param read reads the row when it is not cached; one function for all look-ups, because there are many */
  get<R>(table: TableName, key: unknown, read: ReadRow<R>): R | undefined {
    const rows = this.#tables.get(table);
    if (rows === undefined) return read(table, key);
    const name = nameOf(key);
    const known = rows.get(name);
    if (known !== undefined) return known === absent ? undefined : (known as R);
    const row = read(table, key);
    rows.set(name, (row as object | undefined) ?? absent);
    return row;
  }

  /** The same for a scan of many rows: it neither caches what it reads nor keeps it in the cache. */
  peek<R>(table: TableName, key: unknown, read: ReadRow<R>): R | undefined {
    const known = this.#tables.get(table)?.peek(nameOf(key));
    if (known === undefined) return read(table, key);
    return known === absent ? undefined : (known as R);
  }

  apply({ table, key, row }: Delta): void {
    const rows = this.#tables.get(table);
    if (rows === undefined) return;
    // Messages are rarely read by id right after a write, so they are cached on first read.
    if (rows === this.#messages) rows.delete(nameOf(key));
    else rows.set(nameOf(key), row ?? absent);
  }
}

/** Two ids below this bound fit exactly into one number. */
const pairedId_max = 2 ** 26;

/** A pair of ids becomes a number if possible; a string would have to be built and hashed at every lookup. */
function nameOf(key: unknown): Name {
  if (!Array.isArray(key)) return key as Name;
  const [first, second] = key;
  const isPair = key.length === 2 && isPairable(first) && isPairable(second);
  return isPair ? first * pairedId_max + second : key.join(":");
}

function isPairable(part: unknown): part is number {
  return Number.isInteger(part) && (part as number) >= 0 && (part as number) < pairedId_max;
}

export interface KeptPolicy {
  readonly userId: number;
  readonly visibilityPolicy: number;
}

const tooMany = Symbol("too many");

/**
 * Caches which users have a policy for a topic: usually few or none, and read with every post. An entry is kept until
 * one of the topic's rows changes (M9), so a post reads no range of rows. Bounded in topics and in users per topic.
 */
export class TopicPolicies {
  readonly #known = boundedMap<string, readonly KeptPolicy[] | typeof tooMany>(limits.cached_rows_per_table_max);

  /**
   * @param read returns the first rows, up to `limit`, by ascending user id
   * @returns all policies of a topic; null if there are more than are cached
   */
  of(
    channelId: number,
    foldedTopic: string,
    read: (limit: number) => readonly KeptPolicy[],
  ): readonly KeptPolicy[] | null {
    const name = `${channelId}:${foldedTopic}`;
    let known = this.#known.get(name);
    if (known === undefined) {
      const rows = read(limits.topic_policies_kept_max + 1);
      known = rows.length > limits.topic_policies_kept_max ? tooMany : rows;
      this.#known.set(name, known);
    }
    return known === tooMany ? null : known;
  }

  apply({ table, key }: Delta): void {
    if (table !== "topicPolicies") return;
    const [channelId, foldedTopic] = key;
    this.#known.delete(`${channelId}:${foldedTopic}`);
  }
}

interface Known {
  /** The user has no more policies than this. */
  readonly atMost: number;
  /** Whether the user has exactly `atMost`. */
  readonly isExact: boolean;
}

/**
 * Whether a user has room for one more topic policy, without counting the rows for every post that starts a topic. It
 * knows an upper bound for each user, which follows the writes (M9), and counts only when that bound reaches the limit.
 */
export class TopicCounts implements Follower {
  readonly #known = boundedMap<number, Known>(limits.cached_rows_per_table_max);

  /** @param count counts the user's rows, up to `limit` */
  hasRoom(userId: number, count: (limit: number) => number): boolean {
    const limit = limits.user_topics_per_user_max;
    let known = this.#known.get(userId);
    if (known === undefined || (known.atMost >= limit && !known.isExact)) {
      known = { atMost: count(limit), isExact: true };
      this.#known.set(userId, known);
    }
    return known.atMost < limit;
  }

  /** A row that is removed was there; a row that is written may be new or may replace another. */
  apply({ table, key, row }: Delta): void {
    if (table !== "userTopics") return;
    const [userId] = key;
    const known = this.#known.get(userId);
    if (known === undefined) return;
    if (row === null) this.#known.set(userId, { ...known, atMost: known.atMost - 1 });
    // Nothing is added at the limit, so the row replaces another.
    else if (known.atMost < limits.user_topics_per_user_max) {
      this.#known.set(userId, { atMost: known.atMost + 1, isExact: false });
    }
  }
}

interface Tail {
  /** Ascending, without gaps up to the newest message of the channel. */
  readonly entries: IndexedMessage[];
  /** The tail holds the whole index: there are no older entries. */
  readonly isWhole: boolean;
}

interface TailBounds {
  readonly channels: number;
  /** Over all channels together. */
  readonly entries: number;
  readonly entriesPerChannel: number;
}

const bounds_default: TailBounds = {
  channels: limits.channel_tails_max,
  entries: limits.channel_tail_entries_max,
  entriesPerChannel: limits.channel_tail_entries_per_channel_max,
};

const rowsPerRead = 2000;

export class ChannelTails {
  readonly #lmdb: Lmdb;
  readonly #entriesPerChannel: number;
  /** A tail that grows is set again, because the cache computes sizes only in `set`. */
  readonly #tails: LRUCache<number, Tail>;

  constructor(lmdb: Lmdb, bounds = bounds_default) {
    this.#lmdb = lmdb;
    this.#entriesPerChannel = bounds.entriesPerChannel;
    // Each tail takes at least its share of all entries, which bounds their number. With `max` the cache would allocate
    // all slots for every realm that is opened (`boundedMap`).
    const share = Math.max(1, Math.floor(bounds.entries / bounds.channels));
    this.#tails = new LRUCache({
      maxSize: bounds.entries,
      sizeCalculation: ({ entries }) => Math.max(share, entries.length),
    });
  }

  /** Number of cached entries in all channels. */
  get size(): number {
    return [...this.#tails.values()].reduce((sum, { entries }) => sum + entries.length, 0);
  }

  /** Entries between two ids, both exclusive, newest first. */
  read(channelId: number, { above, below, limit }: IndexRange): readonly IndexedMessage[] {
    let tail: Tail = this.#tails.get(channelId) ?? { entries: [], isWhole: false };
    for (;;) {
      const end = endBefore(tail.entries, below);
      const start = Math.max(endBefore(tail.entries, above + 1), end - limit);
      const isEnough = end - start === limit || tail.isWhole || (tail.entries[0]?.id ?? Infinity) <= above + 1;
      if (isEnough) return tail.entries.slice(start, end).reverse();
      // If the tail would get too long, read the rows without caching them.
      if (tail.entries.length + rowsPerRead > this.#entriesPerChannel) {
        return this.#rows(channelId, { above, below, limit });
      }
      const older = this.#rows(channelId, { above: 0, below: tail.entries[0]?.id ?? Infinity, limit: rowsPerRead });
      tail = { entries: older.reverse().concat(tail.entries), isWhole: older.length < rowsPerRead };
      this.#tails.set(channelId, tail);
    }
  }

  #rows(channelId: number, { above, below, limit }: IndexRange): IndexedMessage[] {
    const start = [channelId, Math.min(below, Number.MAX_SAFE_INTEGER) - 1];
    const rows = this.#lmdb.rows("channelMessages", { start, end: [channelId, above], reverse: true, limit });
    return rows.map(({ key, row }) => ({ id: key[1], ...row }));
  }

  apply({ table, key, row }: Delta): void {
    if (table !== "channelMessages") return;
    const [channelId, id] = key;
    const tail = this.#tails.peek(channelId);
    if (tail === undefined) return;
    const isNewest = row !== null && id > (tail.entries.at(-1)?.id ?? 0);
    // Edits, moves and deletions are rare: drop the tail, and reload it on the next read.
    if (!isNewest || tail.entries.length >= this.#entriesPerChannel) {
      this.#tails.delete(channelId);
      return;
    }
    tail.entries.push({ id, ...row });
    this.#tails.set(channelId, { ...tail });
  }
}

/** Number of entries with ids below `below`. */
function endBefore(entries: readonly IndexedMessage[], below: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.id ?? 0) < below) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Every entry counts as size one instead of using `max`: with `max` the library allocates all slots when the map is
 * created (5.6 MB and 41 ms for 300,000), which every start would pay for.
 */
export function boundedMap<K extends {}, V extends {}>(entriesMax: number): LRUCache<K, V> {
  return new LRUCache({ maxSize: entriesMax, sizeCalculation: () => 1 });
}
