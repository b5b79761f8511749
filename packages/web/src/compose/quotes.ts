/** Quotes a message. The box opens at once, and takes what is typed; the quote goes before that when it arrives. */
import { signal } from "@preact/signals";
import type { Message } from "../../../client/src/api/index.ts";
import { conversationOf, quoteOf } from "../actions.ts";
import { attempt } from "../notices.ts";
import { composing, isComposeOpen, openCompose } from "./compose-state.ts";
import { insertAfter } from "./insertion.ts";

/** A message that waits for one is not sent. */
export const quotesOnTheirWay = signal(0);

export async function quote(message: Message): Promise<void> {
  const before = composing.peek().text;
  // What somebody is writing keeps its destination.
  openCompose(before.trim() === "" ? { to: conversationOf(message, null) } : {});
  quotesOnTheirWay.value++;
  await attempt("The message cannot be quoted", async () => {
    const lines = await quoteOf(message);
    // Whoever has closed the box does not want it any more.
    if (isComposeOpen.peek()) insertAfter(before, lines);
  });
  quotesOnTheirWay.value--;
}
