/** Quotes a message. The box opens at once, and takes what is typed; the quote goes before that when it arrives. */
import { signal } from "@preact/signals";
import type { Message } from "../../../client/src/api/index.ts";
import { conversationOf, quoteOf } from "../actions.ts";
import { attempt } from "../notices.ts";
import { composing, isComposeOpen, openCompose } from "./compose-state.ts";
import { insertAfter } from "./insertion.ts";

/** A message that waits for one is not sent. */
export const quotesOnTheirWay = signal(0);

/** The text that precedes the next quote, as long as nothing is typed. */
let start = { text: "" };
let last: Promise<unknown> = Promise.resolve();

export async function quote(message: Message): Promise<void> {
  const before = composing.peek().text;
  if (start.text !== before) start = { text: before };
  const [mine, previous] = [start, last];
  // What somebody is writing keeps its destination.
  openCompose(before.trim() === "" ? { to: conversationOf(message, null) } : {});
  quotesOnTheirWay.value++;
  last = attempt("The message cannot be quoted", async () => {
    const lines = await quoteOf(message);
    await previous;
    // Whoever has closed the box does not want it any more.
    if (isComposeOpen.peek()) mine.text = insertAfter(mine.text, lines);
  });
  await last;
  quotesOnTheirWay.value--;
}
