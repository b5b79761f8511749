/**
 * Rows that nearly every request needs (topic names, conversations, recently read messages), decoded. Updated by the
 * same deltas as projections, right after a command's writes (M9), so it never shows a rejected change. A cached row
 * stays the same object until it changes, so derived data can be cached by its identity (queries/encoded-messages.ts).
 */

import { LRUCache } from "lru-cache";
import { limits } from "../../schemas/limits.ts";
import type { MessageRecord } from "../../schemas/messages.ts";
import type { TableName } from "../../schemas/records.ts";
import type { Delta } from "../store/projections/projection.ts";
import { boundedMap } from "./bounded-map.ts";

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
