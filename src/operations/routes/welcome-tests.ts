/** POST /realm/test_welcome_bot_custom_message (public API). */
import { command } from "../../../actors/protocol/decision.ts";
import { readContent } from "../../../domain/message-content.ts";
import { testWelcomeMessage } from "../../../schemas/welcome-tests.ts";
import { bind, requireCaller } from "../calls.ts";

/** The welcome bot is the first user of every organization, so its id never changes. */
const botId = 1;

export const welcomeTestRoutes = [
  bind(testWelcomeMessage, (call) => {
    const { id } = requireCaller(call);
    const text = readContent(call.params.welcome_message_custom_text);
    if (typeof text !== "string") return text;
    const to = { actor: "direct", userIds: [botId, id] } as const;
    return call.realm.dispatcher.ask(command(to, "welcome.test", { text }, id), call.idempotencyKey);
  }),
];
