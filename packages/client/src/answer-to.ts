/** The place of a message, as parameters of POST /messages: where a bot answers. */
import type { Message } from "./api/index.ts";

export type Place =
  | { readonly type: "channel"; readonly to: number; readonly topic: string }
  | { readonly type: "direct"; readonly to: readonly number[] };

/** The same topic, or everybody in the direct conversation. */
export function answerTo(message: Pick<Message, "stream_id" | "subject" | "display_recipient">): Place {
  const { stream_id: channelId, subject: topic, display_recipient: people } = message;
  if (channelId !== undefined) return { type: "channel", to: channelId, topic };
  return { type: "direct", to: typeof people === "string" ? [] : people.map(({ id }) => id) };
}
