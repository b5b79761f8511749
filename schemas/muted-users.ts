/** Muted users: whose messages a person does not want to see (public API: mute-user, unmute-user). */
import { defineEndpoint } from "./endpoint.ts";
import { Id } from "./types.ts";

const common = {
  path: "/users/me/muted_users/{muted_user_id}",
  authentication: "user",
  effectiveness: "durable",
  params: { muted_user_id: Id },
  ok: {},
  errors: [],
} as const;

export const muteUser = defineEndpoint({
  ...common,
  operationId: "mute-user",
  method: "POST",
  summary: "Mutes a person or a bot, for the caller alone.",
});

export const unmuteUser = defineEndpoint({
  ...common,
  operationId: "unmute-user",
  method: "DELETE",
  summary: "Ends the muting of a person or a bot.",
});
