/**
 * The typists in one conversation (spec section 6): volatile (E4). A typist whose client sends nothing for a while
 * expires.
 *
 *    silent --typing.start--> typing --last typist stops or expires--> silent
 *
 * Both states accept every command: clients repeat and lose notices, so a stop without a start is no error.
 */
import { forUser } from "../protocol/decide.ts";
import { decide, lead, rejectUnhandled, setupMachine } from "../protocol/machine-setup.ts";
import { expireTyping, startTyping, stopTyping, type TypingContext } from "./notices.ts";

const accepted = decide<TypingContext>({
  "typing.start": forUser(startTyping),
  "typing.stop": forUser(stopTyping),
  "typing.expire": expireTyping,
});

const last = { silent: "nobody else is typing" };

export const typingMachine = setupMachine<TypingContext>().createMachine({
  id: "typing",
  context: { typists: {} },
  initial: "silent",
  states: {
    silent: { on: lead(accepted, { "typing.start": { typing: "the typist may post here" } }) },
    typing: { on: lead(accepted, { "typing.stop": last, "typing.expire": last }) },
  },
  on: rejectUnhandled,
});
