/**
 * Where reading goes on (behaviour 5.4, anchor `first_unread`): the oldest match that is unread and not muted. It is looked for above
 * floors only, in the place of the narrow, and in passes like every walk.
 */
import type { UserRecord } from "../../schemas/records.ts";
import { type Narrowed, unreadOf } from "../domain/narrow.ts";
import type { View } from "../domain/view.ts";
import { MessageWalk } from "./message-fetch.ts";

/** @returns null: there is none */
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
