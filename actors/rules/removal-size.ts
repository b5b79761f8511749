/**
 * Limits how many messages one command removes: everything that belongs to a message is removed with it, which may be
 * thousands of rows.
 */

import type { View } from "../../domain/view.ts";
import type { MessageId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import { hasTrait, type MessageTrait } from "../../schemas/message-traits.ts";
import type { MessageToDelete } from "./message-rows.ts";

/** A table whose keys begin with a message id. */
interface OwnTable {
  readonly table: "reactions" | "submessages" | "messageAttachments" | "messageEdits" | "flagHolders";
  /** Number of rows removed with each of its rows, including the row itself. */
  readonly rows: number;
  /** null: no trait indicates whether a message has such rows. */
  readonly trait: MessageTrait | null;
}

const ownTables: readonly OwnTable[] = [
  { table: "reactions", rows: 1, trait: "hasReactions" },
  { table: "submessages", rows: 1, trait: "hasSubmessages" },
  { table: "messageAttachments", rows: 2, trait: "hasAttachment" },
  { table: "messageEdits", rows: 1, trait: null },
  { table: "flagHolders", rows: 2, trait: null },
];

/** Traits for which a message has one row each. */
const rowTraits: readonly MessageTrait[] = ["hasAlerts", "isResolveNotice", "hasSubmessages"];
/** The message's row and its entries in the conversation's and the channel's index. */
const rowsOfEach = 3;

/**
 * The longest prefix of the messages with at most `rowsLeft` rows in total. A full batch always contains at least one
 * message, however many rows it has.
 */
export function withinRows<T extends MessageToDelete>(
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

type Count = (messageId: MessageId, limit: number) => number;

/** @returns the number of rows, possibly cut off once it exceeds `rowsLeft` */
function rowsOf({ id, traits }: MessageToDelete, counts: ReadonlyMap<OwnTable, Count>, rowsLeft: number): number {
  let rows = rowsOfEach + rowTraits.filter((trait) => hasTrait(traits, trait)).length;
  for (const [own, count] of counts) {
    if (rows > rowsLeft) break;
    if (own.trait === null || hasTrait(traits, own.trait)) rows += own.rows * count(id, rowsLeft - rows + 1);
  }
  return rows;
}

function countsOf(view: View, messages: readonly MessageToDelete[], rowsLeft: number): ReadonlyMap<OwnTable, Count> {
  const ids = messages.map(({ id }) => id);
  return new Map(ownTables.map((own) => [own, countIn(view, own, ids, rowsLeft + 1)]));
}

/**
 * For tables without a trait: one range scan if the message ids are close together, because most messages have no such
 * rows.
 */
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
