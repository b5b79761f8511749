/** The part of a mirror that follows scheduled messages and reminders (OpenAPI, GET /events). */
import { applyEvent } from "../../packages/client/src/state/index.ts";

// biome-ignore lint/suspicious/noExplicitAny: state and events are JSON of any shape
type Json = any;

/** The lists, with the name of their records' ids. */
const lists: Readonly<Record<string, string>> = {
  scheduled_messages: "scheduled_message_id",
  reminders: "reminder_id",
};

export const scheduledTypes = Object.keys(lists);

/** Applies an event of one of the two types; ignores others. */
export function applyScheduled(state: Json, event: Json): void {
  if (lists[event.type] === undefined) return;
  Object.assign(state, applyEvent(state, event, { includesSubscribers: false, unknownUser: null }));
}

/** Both lists in the order in which a fresh state has them. */
export function scheduledPicture(state: Json): Record<string, Json> {
  const inOrder = ([name, id]: [string, string]) => [
    name,
    [...state[name]].sort(
      (a: Json, b: Json) => a.scheduled_delivery_timestamp - b.scheduled_delivery_timestamp || a[id] - b[id],
    ),
  ];
  return Object.fromEntries(Object.entries(lists).map(inOrder));
}
