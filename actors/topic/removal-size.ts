/** How many messages one command may remove: what belongs to a message goes with it, and one may have thousands of rows. */
import { limits } from "../../schemas/limits.ts";
import { hasTrait, type MessageTrait } from "../../schemas/message-traits.ts";
import type { View } from "../../src/domain/view.ts";
import type { Doomed } from "./message-removal.ts";

/** A table whose keys begin with a message's id. */
interface OwnTable {
  readonly table: "reactions" | "submessages" | "messageAttachments" | "messageEdits" | "flagHolders";
  /** Rows that go with one of its rows, itself included. */
  readonly rows: number;
  /** null: no trait of the message tells that it has some. */
  readonly trait: MessageTrait | null;
}

const ownTables: readonly OwnTable[] = [
  { table: "reactions", rows: 1, trait: "hasReactions" },
  { table: "submessages", rows: 1, trait: "hasSubmessages" },
  { table: "messageAttachments", rows: 2, trait: "hasAttachment" },
  { table: "messageEdits", rows: 1, trait: null },
  { table: "flagHolders", rows: 2, trait: null },
];

/** Traits that stand for one row each. */
const rowTraits: readonly MessageTrait[] = ["callsAttention", "isResolveNotice", "hasSubmessages"];
/** Itself, and its entries in its conversation and its channel. */
const rowsOfEach = 3;

/**
 * The first of these messages, as many as have at most so many rows together; at least one, whatever it has, unless `rowsLeft` is
 * less than the whole of a batch.
 */
export function withinRows<T extends Doomed>(
  view: View,
  messages: readonly T[],
  rowsLeft: number = limits.removal_batch_rows,
): { readonly fitting: readonly T[]; readonly rows: number } {
  const counts = countsOf(view, messages, rowsLeft);
  let rows = 0;
  for (const [index, message] of messages.entries()) {
    const own = rowsOf(message, counts, rowsLeft - rows);
    const isFirst = index === 0 && rowsLeft === limits.removal_batch_rows;
    if (rows + own > rowsLeft && !isFirst) return { fitting: messages.slice(0, index), rows };
    rows += own;
  }
  return { fitting: messages, rows };
}

type Count = (messageId: number, limit: number) => number;

/** @returns what may be cut at what is too much anyhow */
function rowsOf({ id, traits }: Doomed, counts: ReadonlyMap<OwnTable, Count>, rowsLeft: number): number {
  let rows = rowsOfEach + rowTraits.filter((trait) => hasTrait(traits, trait)).length;
  for (const [own, count] of counts) {
    if (rows > rowsLeft) break;
    if (own.trait === null || hasTrait(traits, own.trait)) rows += own.rows * count(id, rowsLeft - rows + 1);
  }
  return rows;
}

function countsOf(view: View, messages: readonly Doomed[], rowsLeft: number): ReadonlyMap<OwnTable, Count> {
  const ids = messages.map(({ id }) => id);
  return new Map(ownTables.map((own) => [own, countIn(view, own, ids, rowsLeft + 1)]));
}

/** Where no trait tells: in one look where the messages lie close together, as most have none. */
function countIn(view: View, { table, trait }: OwnTable, ids: readonly number[], nearMax: number): Count {
  const keysOf = (first: number, last: number, limit: number) =>
    view.keys(table, { start: [first], end: [last + 1], limit: Math.max(1, limit) });
  const each: Count = (id, limit) => keysOf(id, id, limit).length;
  if (trait !== null || ids.length === 0) return each;
  const near = keysOf(Math.min(...ids), Math.max(...ids), nearMax);
  if (near.length >= nearMax) return each;
  const counted = new Map<number, number>();
  for (const [id] of near) counted.set(id, (counted.get(id) ?? 0) + 1);
  return (id) => counted.get(id) ?? 0;
}
