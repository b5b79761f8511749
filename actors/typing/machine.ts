/**
 * Who is typing in one conversation (spec section 6): volatile (E4). A typist who goes silent expires.
 *
 *   silent --typing.start--> typing --last typist stops or expires--> silent
 */
import { setup } from "xstate";
import { type CommandEvent, type Emitted, hosting } from "../decide.ts";
import { expireTyping, startTyping, stopTyping } from "./notices.ts";

export interface TypingContext {
  /** Typists by user id, with the time until which they count. Bounded by `typing_typists_per_conversation_max`. */
  readonly typists: Readonly<Record<number, number>>;
}

const { decide, notUnderstood } = hosting<TypingContext>();

const accepted = {
  "typing.start": { actions: decide(startTyping) },
  "typing.stop": { actions: decide(stopTyping) },
  "typing.expire": { actions: decide(expireTyping) },
} as const;

const isAnybodyTyping = ({ context }: { context: TypingContext }) => Object.keys(context.typists).length > 0;
const isNobodyTyping = ({ context }: { context: TypingContext }) => Object.keys(context.typists).length === 0;

export const typingMachine = setup({
  types: { context: {} as TypingContext, events: {} as CommandEvent, emitted: {} as Emitted },
}).createMachine({
  id: "typing",
  context: { typists: {} },
  initial: "silent",
  states: {
    silent: { on: accepted, always: { guard: isAnybodyTyping, target: "typing" } },
    typing: { on: accepted, always: { guard: isNobodyTyping, target: "silent" } },
  },
  on: { "*": { actions: notUnderstood } },
});
