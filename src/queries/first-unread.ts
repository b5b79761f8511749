/**
 * The anchor `first_unread` (behaviour 5.4): the oldest unread match that is not muted. Searches only above watermarks,
 * within the narrow, and in passes like every walk.
 */

import { type Narrowed, unreadOf } from "../../domain/narrow/narrow.ts";
import type { View } from "../../domain/view.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { MessageWalk } from "./message-fetch.ts";
import type { Waiting } from "./passes.ts";

/** @returns null if there is none */
export function* firstUnread(
  view: View,
  reader: UserRecord,
  narrowed: Narrowed,
  isAbandoned: () => boolean,
): Waiting<number | null> {
  const walk = new MessageWalk(view, reader, unreadOf(view, reader, narrowed), isAbandoned);
  const { messages } = yield* walk.collect(0, 1, 1);
  return messages[0]?.id ?? null;
}
