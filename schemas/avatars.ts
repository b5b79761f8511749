/** Pictures of people (issue "People", Avatars; public API: upload and removal of one's own avatar). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";

export const uploadAvatar = defineEndpoint({
  operationId: "upload-avatar",
  method: "POST",
  path: "/users/me/avatar",
  authentication: "user",
  effectiveness: "durable",
  summary: "Sets the caller's picture: one file in a multipart body, decoded and re-encoded.",
  upload: { bytesMax: limits.avatar_bytes_max },
  params: {},
  ok: { avatar_url: Type.String() },
  errors: [],
});

export const deleteAvatar = defineEndpoint({
  operationId: "delete-avatar",
  method: "DELETE",
  path: "/users/me/avatar",
  authentication: "user",
  effectiveness: "durable",
  summary: "Removes the caller's picture; the one made from the address is back.",
  params: {},
  ok: { avatar_url: Type.String() },
  errors: [],
});
