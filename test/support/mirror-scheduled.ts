/** The part of a mirror that follows scheduled messages and reminders (OpenAPI, GET /events). */

// biome-ignore lint/suspicious/noExplicitAny: state and events are JSON of any shape
type Json = any;

interface List {
  readonly id: string;
  /** The key of the record in an update event. */
  readonly one: string;
}

const lists: Readonly<Record<string, List>> = {
  scheduled_messages: { id: "scheduled_message_id", one: "scheduled_message" },
  reminders: { id: "reminder_id", one: "reminder" },
};

export const scheduledTypes = Object.keys(lists);

/** Applies an event of one of the two types; ignores others. */
export function applyScheduled(state: Json, event: Json): void {
  const list = lists[event.type];
  if (list === undefined) return;
  const records = event.op === "remove" ? [] : (event[event.type] ?? [event[list.one]]);
  const gone = event.op === "remove" ? [event[list.id]] : records.map((record: Json) => record[list.id]);
  const others = state[event.type].filter((record: Json) => !gone.includes(record[list.id]));
  state[event.type] = [...others, ...records];
}

/** Both lists in the order in which a fresh state has them. */
export function scheduledPicture(state: Json): Record<string, Json> {
  const inOrder = ([name, { id }]: [string, List]) => [
    name,
    [...state[name]].sort(
      (a: Json, b: Json) => a.scheduled_delivery_timestamp - b.scheduled_delivery_timestamp || a[id] - b[id],
    ),
  ];
  return Object.fromEntries(Object.entries(lists).map(inOrder));
}
