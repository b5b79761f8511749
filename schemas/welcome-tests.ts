/** Tests the welcome message for new users (public API: /realm/test_welcome_bot_custom_message). */
import { Type } from "typebox";
import { defineArea, defineCommands } from "./area.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import { commonLimits } from "./limits/common.ts";
import { OtherId } from "./person-marks.ts";

export const testWelcomeMessage = defineEndpoint({
  operationId: "test-welcome-bot-custom-message",
  method: "POST",
  path: "/realm/test_welcome_bot_custom_message",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Sends the caller the welcome message that new users get.",
  params: { welcome_message_custom_text: Type.String({ maxLength: commonLimits.welcome_message_code_points_max }) },
  ok: { message_id: OtherId },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

/** Parameters of its commands, by type. */
export interface WelcomeTestsCommands {
  /** Posted to the direct conversation of the bot and the caller. */
  "welcome.test": { readonly text: string };
}

/** Their replies, by type; other commands reply without fields. */
export interface WelcomeTestsReplies {
  readonly "welcome.test": ResultOf<typeof testWelcomeMessage>;
}

export const welcomeTestsArea = defineArea({
  endpoints: [testWelcomeMessage],
  commands: defineCommands<WelcomeTestsCommands, WelcomeTestsReplies>(),
});
