/**
 * Rows that nearly every request needs (where a topic's name leads, what a conversation is, the messages that are read just now),
 * kept decoded. Changed by the same deltas as projections, right after a command's writes (M9), so it never
 * shows what was refused. A row that is kept stays the same object until it changes: who derives something from it may keep that
 * with it (queries/encoded-messages.ts).
 */

import { LRUCache } from "lru-cache";
import { limits } from "../../schemas/limits.ts";
import type { MessageRecord, TableName } from "../../schemas/records.ts";
import type { Delta } from "../store/projections/projection.ts";

/** A row that is known not to be there. */
const absent = Symbol("absent");

type Kept = object | typeof absent;
type Name = string | number;

/** Small rows: a bound of their number is one of their memory. A table each, so that ids need not become text. */
const smallTables: readonly TableName[] = [
  "topicNames",
  "directNames",
  "conversations",
  // What a message calls is asked by each of its readers, and whether anything is marked by a reader for each message.
  "messageAttention",
  "resolveNotices",
  "readStates",
  // A sender's policy for the topic is asked with every post; most have none.
  "userTopics",
  // Whoever is told of typing is asked for; most have muted nobody.
  "mutedUsers",
];

export class RowCache {
  readonly #tables: ReadonlyMap<TableName, LRUCache<Name, Kept>>;
  readonly #messages = new LRUCache<Name, Kept>({
    maxSize: limits.cached_messages_characters_max,
    sizeCalculation: (row) => {
      if (row === absent) return limits.cached_message_characters_beside;
      const { content, rendered } = row as MessageRecord;
      return 2 * (content.length + rendered.length) + limits.cached_message_characters_beside;
    },
  });

  constructor() {
    const small = smallTables.map(
      (table) => [table, new LRUCache<Name, Kept>({ max: limits.cached_rows_per_table_max })] as const,
    );
    this.#tables = new Map<TableName, LRUCache<Name, Kept>>([...small, ["messages", this.#messages]]);
  }

  /** @param read reads the row where it is not known yet */
  get<R>(table: TableName, key: unknown, read: () => R | undefined): R | undefined {
    const rows = this.#tables.get(table);
    if (rows === undefined) return read();
    const name = nameOf(key);
    const known = rows.get(name);
    if (known !== undefined) return known === absent ? undefined : (known as R);
    const row = read();
    rows.set(name, (row as object | undefined) ?? absent);
    return row;
  }

  apply({ table, key, row }: Delta): void {
    const rows = this.#tables.get(table);
    if (rows === undefined) return;
    // Of all that is written, little is read by id soon: it is kept when it is.
    if (rows === this.#messages) rows.delete(nameOf(key));
    else rows.set(nameOf(key), row ?? absent);
  }
}

/** Below it, two ids fit into one number that is exact. */
const pairedId_max = 2 ** 26;

/** A pair of ids is a number where it can be: text would be made and hashed at every look. */
function nameOf(key: unknown): Name {
  if (!Array.isArray(key)) return key as Name;
  const [first, second] = key;
  const isPair = key.length === 2 && isPairable(first) && isPairable(second);
  return isPair ? first * pairedId_max + second : key.join(":");
}

function isPairable(part: unknown): part is number {
  return Number.isInteger(part) && (part as number) >= 0 && (part as number) < pairedId_max;
}
