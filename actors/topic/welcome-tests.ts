/** POST /realm/test_welcome_bot_custom_message: an administrator gets a message as new people would. */
import { refuse } from "../../schemas/errors.ts";
import { isAdministrator } from "../../src/domain/permissions.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { botDirectMessage } from "../realm/notification-bot.ts";
import type { TopicContext } from "./machine.ts";
import { postMessage } from "./messages.ts";

export function testWelcome(context: TopicContext, asked: Command<"welcome.test">, view: View): Outcome<TopicContext> {
  const caller = callerOf(asked, view);
  if (caller === null || !isAdministrator(caller)) return refuse.administratorRequired();
  const outcome = postMessage(context, botDirectMessage(caller.id, asked.params.text), view);
  if (outcome.kind === "refused") return outcome;
  return done({ message_id: outcome.answer?.["id"] }, outcome.effects, outcome.context);
}
