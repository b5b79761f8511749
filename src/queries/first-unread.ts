/**
 * The anchor `first_unread` (behaviour 5.4): the oldest unread match that is not muted. Searches only above watermarks,
 * within the narrow, and in passes like every walk.
 */

import { type Narrowed, unreadOf } from "../../domain/narrow/narrow.ts";
import type { View } from "../../domain/view.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { MessageWalk } from "./message-fetch.ts";

/** @returns null if there is none */
export async function firstUnread(
  view: View,
  reader: UserRecord,
  narrowed: Narrowed,
  isAbandoned: () => boolean,
): Promise<number | null> {
  const walk = new MessageWalk(view, reader, unreadOf(view, reader, narrowed), isAbandoned);
  const { messages } = await walk.collect(0, 1, 1);
  return messages[0]?.id ?? null;
}
