/** What the indexes of messages say of each (records/read-state.ts): whoever writes, moves or changes a message writes it so. */
import type { MessageIndexRecord, MessageRecord } from "../../schemas/records.ts";

/** The row of `conversationMessages`; that of `channelMessages` has the conversation beside it. */
export function indexRow({ senderId, traits }: Pick<MessageRecord, "senderId" | "traits">): MessageIndexRecord {
  return { senderId, traits };
}
