/**
 * The typists in one conversation (spec section 6): volatile (E4). A typist whose client sends nothing for a while
 * expires.
 *
 *    silent --typing.start--> typing --last typist stops or expires--> silent
 *
 * Both states accept every command: clients repeat and lose notices, so a stop without a start is no error.
 */
import { forUser } from "../protocol/decide.ts";
import { decide, rejectUnhandled, setupMachine } from "../protocol/machine-setup.ts";
import { isAnybodyTyping, isNobodyTyping, type TypingContext } from "./context.ts";
import { expireTyping, startTyping, stopTyping } from "./notices.ts";

const accepted = decide<TypingContext>({
  "typing.start": forUser(startTyping),
  "typing.stop": forUser(stopTyping),
  "typing.expire": expireTyping,
});

export const typingMachine = setupMachine<TypingContext>().createMachine({
  id: "typing",
  context: { typists: {} },
  initial: "silent",
  states: {
    silent: { on: accepted, always: { guard: isAnybodyTyping, target: "typing", description: "typing.start" } },
    typing: {
      on: accepted,
      always: { guard: isNobodyTyping, target: "silent", description: "typing.stop, typing.expire" },
    },
  },
  on: rejectUnhandled,
});
