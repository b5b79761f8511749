/** Channels that new people join (public API: add-default-stream, remove-default-stream). */
import { defineEndpoint } from "./endpoint.ts";
import { Id } from "./types.ts";

const common = {
  path: "/default_streams",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  params: { stream_id: Id },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
} as const;

export const addDefaultChannel = defineEndpoint({
  ...common,
  operationId: "add-default-stream",
  method: "POST",
  summary: "Makes a channel one that new people join; organization administrators only.",
});

export const removeDefaultChannel = defineEndpoint({
  ...common,
  operationId: "remove-default-stream",
  method: "DELETE",
  summary: "New people do not join the channel any more; organization administrators only.",
});
