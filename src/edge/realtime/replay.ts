/**
 * Reads a queue's past from the log (E2): every later event that its owner was and still is entitled to, in order. A
 * long replay has a budget and continues in a later iteration of the event loop by seeking again, never with an open
 * cursor.
 */
import { limits } from "../../../schemas/limits.ts";
import type { EventRecord } from "../../../schemas/runtime.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { Realm } from "../../runtime/realm.ts";
import { wasAddressed } from "./audience.ts";
import { EncodedEvent } from "./encoded-event.ts";
import type { Hub } from "./hub.ts";
import type { LiveQueue } from "./queue.ts";

export interface Slice {
  readonly events: readonly EncodedEvent[];
  /** Where the next slice begins; null at the end of the log. */
  readonly next: number | null;
  /** The realm's next position when the slice was read. */
  readonly end: number;
}

/**
 * Whether an event that the reader needs was pruned from the log (E2): the one after its position, or the first pending
 * one if it has all delivered events. A position that the realm has not reached is not from this log and counts as
 * lost.
 */
export function isLost(realm: Realm, queue: LiveQueue, after: number): boolean {
  const needed = after < queue.deliveredUpTo ? after + 1 : queue.firstPending;
  return after >= realm.view.position || (needed !== null && needed < realm.log.startsAt);
}

/** Reads at most `replay_rows_per_pass_max` rows in one pass. It is synchronous, so nothing changes meanwhile. */
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

/** Inserts the restart event into a slice, if its position lies in it. */
function withRestart(rows: readonly EventRecord[], restart: EventRecord | null, from: number): readonly EventRecord[] {
  if (restart === null || restart.position < from) return rows;
  const later = rows.findIndex(({ position }) => position > restart.position);
  if (later >= 0) return rows.toSpliced(later, 0, restart);
  // A full slice is followed by another one.
  return rows.length < limits.replay_rows_per_pass_max ? [...rows, restart] : rows;
}
