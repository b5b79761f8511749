/**
 * How a row of the event log becomes the objects that a queue gets, by type and op, and the kind for bodies that are
 * sent as they are stored.
 */

import { type ExtraType, shownType } from "../../../domain/emoji/extra-type.ts";
import type { View } from "../../../domain/view.ts";
import { type ReactionType, reactionTypes } from "../../../schemas/event-values.ts";
import type { EventType, StoredBody, WireEvent } from "../../../schemas/events.ts";
import type { EventRecord } from "../../../schemas/runtime.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { RecipientQueue } from "./recipient-queue.ts";

type From<R, Result> = (view: View, record: R, user: UserRecord, queue: RecipientQueue) => Result;

export interface KindOf<R> {
  /**
   * Queues with the same key get the same bytes. Message events differ by variant and flags, some events by user. null:
   * this queue gets nothing, or nothing any more.
   */
  readonly key: From<R, string | null>;
  /** The objects as they are sent, without their `id`. An event may consist of several. */
  readonly build: From<R, readonly WireEvent[]>;
}

export type EventKind<T extends EventType> = KindOf<EventRecord<T>>;

type OpOf<T extends EventType> = StoredBody<T> extends { readonly op: infer Op extends string } ? Op : never;
/** A row of the log with a given op. */
export type RecordOf<T extends EventType, Op extends OpOf<T>> = Omit<EventRecord<T>, "body" | "type"> & {
  readonly type: T;
  readonly body: Extract<StoredBody<T>, { readonly op: Op }>;
};
type KindsByOp<T extends EventType> = { readonly [Op in OpOf<T>]: KindOf<RecordOf<T, Op>> };

/** Selects the kind of an event by its `op`. */
export function byOp<T extends EventType>(kinds: KindsByOp<T>): EventKind<T> {
  // Each kind takes the rows with its own op, which the types of a table and its index cannot express together.
  const table = kinds as Readonly<Record<string, EventKind<T>>>;
  const kindOf = ({ body }: EventRecord<T>): EventKind<T> => {
    const kind = table["op" in body ? String(body.op) : ""];
    if (kind === undefined) throw new Error("an event has an unknown op");
    return kind;
  };
  return {
    key: (view, record, user, queue) => kindOf(record).key(view, record, user, queue),
    build: (view, record, user, queue) => kindOf(record).build(view, record, user, queue),
  };
}

type PlainBody<T extends EventType, B> = B extends unknown
  ? { readonly type: T } & B extends WireEvent<T>
    ? B
    : never
  : never;
/** Rows whose body is what clients get. */
type PlainRecord = {
  readonly [T in EventType]: { readonly type: T; readonly body: PlainBody<T, StoredBody<T>> };
}[EventType];

/** The body is sent as it is stored. */
export const plain: KindOf<PlainRecord> = {
  key: () => "",
  // PlainRecord contains only bodies that are wire events of their type.
  build: (_view, { type, body }) => [{ type, ...body } as WireEvent],
};

/** Part of a key: clients have different names for the type of the extra emoji (D22), so their bytes differ. */
export function extraTypeIn(body: { readonly reaction_type?: string }, queue: RecipientQueue): string {
  return body.reaction_type === reactionTypes.extra ? queue.extraEmojiType : "";
}

/** The body with the emoji type that the queue's client knows. */
export function withShownType<B extends { readonly reaction_type?: ReactionType | ExtraType }>(
  body: B,
  queue: RecipientQueue,
): B {
  const { reaction_type: stored } = body;
  return stored === undefined ? body : { ...body, reaction_type: shownType(stored, queue.extraEmojiType) };
}
