/**
 * The content of message index rows (schemas/read-state.ts). Every writer of a message must write them with these
 * functions.
 */

import type { MessageIndexRecord, MessageRecord } from "../schemas/messages.ts";
import type { RowOf } from "../schemas/records.ts";

type Indexed = Pick<MessageRecord, "conversationId" | "senderId" | "traits">;

/** The row of `conversationMessages`. */
export function indexRow({ senderId, traits }: Pick<Indexed, "senderId" | "traits">): MessageIndexRecord {
  return { senderId, traits };
}

/** The row of `channelMessages`. */
export function channelIndexRow({ conversationId, senderId, traits }: Indexed): RowOf<"channelMessages"> {
  return { conversationId, senderId, traits };
}
