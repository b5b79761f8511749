/** What the indexes of messages say of each (records/read-state.ts): whoever writes, moves or changes a message writes it so. */
import type { MessageIndexRecord, MessageRecord, RowOf } from "../../schemas/records.ts";

type Indexed = Pick<MessageRecord, "conversationId" | "senderId" | "traits">;

/** The row of `conversationMessages`. */
export function indexRow({ senderId, traits }: Pick<Indexed, "senderId" | "traits">): MessageIndexRecord {
  return { senderId, traits };
}

/** The row of `channelMessages`. */
export function channelIndexRow({ conversationId, senderId, traits }: Indexed): RowOf<"channelMessages"> {
  return { conversationId, senderId, traits };
}
