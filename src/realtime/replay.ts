/**
 * Reading a queue's past out of the log (E2): every later event that its owner was and is entitled to, in order. A long
 * replay has a budget and goes on in a later pass of the loop by seeking again, never with an open cursor.
 */
import { limits } from "../../schemas/limits.ts";
import type { EventRecord, UserRecord } from "../../schemas/records.ts";
import type { Realm } from "../runtime/realm.ts";
import { wasAddressed } from "./audience.ts";
import { EncodedEvent } from "./encoded-event.ts";
import type { Hub } from "./hub.ts";
import type { LiveQueue } from "./queue.ts";

export interface Slice {
  readonly events: readonly EncodedEvent[];
  /** Where the next slice begins; null: the log has no more. */
  readonly next: number | null;
  /** The realm's next position when the slice was read. */
  readonly end: number;
}

/**
 * Whether something that a reader needs has left the log (E2): what comes after its position, or, when it has all of that,
 * the first event that waits for it. A position that the realm never gave is not of this log.
 */
export function isLost(realm: Realm, queue: LiveQueue, after: number): boolean {
  const needed = after < queue.deliveredUpTo ? after + 1 : queue.firstPending;
  return after >= realm.view.position || (needed !== null && needed < realm.log.startsAt);
}

/** One pass over at most `replay_rows_per_pass_max` rows. Synchronous: nothing changes meanwhile. */
export function readSlice(
  { realm, restart }: Pick<Hub, "realm" | "restart">,
  queue: LiveQueue,
  user: UserRecord,
  from: number,
): Slice {
  const rows = realm.log.read(from, limits.replay_rows_per_pass_max);
  const events = withRestart(rows, restart, from)
    .filter((row) => queue.wants(realm.view, row) && wasAddressed(realm.view, row, user, queue))
    .map((row) => new EncodedEvent(realm.view, row, null));
  const last = rows.at(-1);
  return {
    events,
    end: realm.view.position,
    next: last === undefined || rows.length < limits.replay_rows_per_pass_max ? null : last.position + 1,
  };
}

/** A slice with the news of a restart at its place, if that lies in it. */
function withRestart(rows: readonly EventRecord[], restart: EventRecord | null, from: number): readonly EventRecord[] {
  if (restart === null || restart.position < from) return rows;
  const later = rows.findIndex(({ position }) => position > restart.position);
  if (later >= 0) return rows.toSpliced(later, 0, restart);
  // A full slice has another behind it.
  return rows.length < limits.replay_rows_per_pass_max ? [...rows, restart] : rows;
}
