/** From a password to an API key, and from a key to another (behaviour 11; spec 5 leaves it open). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { Id } from "./types.ts";

export const fetchApiKey = defineEndpoint({
  operationId: "fetch-api-key",
  method: "POST",
  path: "/fetch_api_key",
  authentication: "none",
  effectiveness: "volatile",
  summary: "Makes a new API key for the person whose address and password are given. It is shown this once (S2).",
  params: {
    username: Type.String({ maxLength: limits.email_code_points_max }),
    password: Type.String({ maxLength: limits.password_bytes_max, secret: true }),
  },
  ok: { api_key: Type.String(), email: Type.String(), user_id: Id },
  errors: ["AUTHENTICATION_FAILED"],
});

export const fetchApiKeyInDevelopment = defineEndpoint({
  operationId: "dev-fetch-api-key",
  method: "POST",
  path: "/dev_fetch_api_key",
  authentication: "none",
  effectiveness: "volatile",
  summary: "Makes a new API key for anybody, without a password: only with DEVELOPMENT_LOGINS.",
  params: { username: Type.String({ maxLength: limits.email_code_points_max }) },
  ok: { api_key: Type.String(), email: Type.String(), user_id: Id },
  errors: ["AUTHENTICATION_FAILED"],
});

export const regenerateApiKey = defineEndpoint({
  operationId: "regenerate-own-api-key",
  method: "POST",
  path: "/users/me/api_key/regenerate",
  authentication: "user",
  // Answers that contain keys are not stored (architecture): a repeat makes another key.
  effectiveness: "volatile",
  summary: "Makes a new API key, shown this once; all keys that there were end at once, with the sockets they opened.",
  params: {},
  ok: { api_key: Type.String() },
  errors: [],
});
