/** What new people are greeted with, tried on oneself (public API: /realm/test_welcome_bot_custom_message). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { Id } from "./types.ts";

export const testWelcomeMessage = defineEndpoint({
  operationId: "test-welcome-bot-custom-message",
  method: "POST",
  path: "/realm/test_welcome_bot_custom_message",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Sends the caller a message as new people would get it.",
  params: { welcome_message_custom_text: Type.String({ maxLength: limits.welcome_message_code_points_max }) },
  ok: { message_id: Id },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});
