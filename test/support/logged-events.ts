/** Rows of the event log by type, and their ops. */
import type { EventType, StoredBody } from "../../schemas/events.ts";
import type { EventRecord } from "../../schemas/runtime.ts";

/** The bodies of the events of one type, in order. */
export function bodiesOf<T extends EventType>(records: Iterable<EventRecord>, type: T): StoredBody<T>[] {
  // A row has the body of its type; a type guard over all types is too much for the compiler.
  return [...records].filter((record) => record.type === type).map(({ body }) => body as StoredBody<T>);
}

/** undefined for events that have no op. */
export function opOf({ body }: Pick<EventRecord, "body">): string | undefined {
  return "op" in body ? body.op : undefined;
}
