/** What turns a row of the event log into the objects that a queue gets; and the kind for bodies that need no turning. */
import type { EventRecord, UserRecord } from "../../schemas/records.ts";
import { reactionTypes } from "../../schemas/status.ts";
import { shownType } from "../domain/emoji/extra-type.ts";
import { shownTopic } from "../domain/topics.ts";
import type { View } from "../domain/view.ts";
import type { LiveQueue } from "./queue.ts";

/** One object as it goes over the wire, without its `id`; several when a client gets an event in pieces. */
export type EventBody = Readonly<Record<string, unknown>>;

export interface EventKind {
  /**
   * Queues for which this gives the same text get the same bytes. Message events differ by variant and flags, some events by
   * person; null: this queue gets nothing (any more).
   */
  key(view: View, record: EventRecord, user: UserRecord, queue: LiveQueue): string | null;
  build(view: View, record: EventRecord, user: UserRecord, queue: LiveQueue): readonly EventBody[];
}

/** A body that is complete as it stands, but for the name of the empty topic. */
export const plain: EventKind = {
  key: (_view, record, _user, queue) => (record.body["topic"] === "" ? queue.variant : ""),
  build(view, record, _user, queue) {
    const { topic } = record.body;
    if (topic !== "") return [{ type: record.type, ...record.body }];
    return [{ type: record.type, ...record.body, topic: shownTopic(view, "", queue.can("empty_topic_name")) }];
  },
};

/** Part of a key: queues whose clients have different names for the type of an event's emoji (D22) get different bytes. */
export function extraTypeIn(record: EventRecord, queue: LiveQueue): string {
  return record.body["reaction_type"] === reactionTypes.extra ? queue.extraEmojiType : "";
}

/** The body with the type of its emoji as the queue's client knows it. */
export function withShownType({ body }: EventRecord, queue: LiveQueue): EventRecord["body"] {
  const stored = body["reaction_type"];
  return typeof stored === "string" ? { ...body, reaction_type: shownType(stored, queue.extraEmojiType) } : body;
}
