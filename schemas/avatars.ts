/** Avatars of users (spec 2.6; public API: upload and removal of one's own avatar). */
import { defineArea, defineCommands } from "./area.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import { OtherText } from "./person-marks.ts";

const limits = {
  avatar_bytes_max: 5 * 1024 * 1024,
  avatar_size_px: 100,
  avatar_medium_size_px: 500,
} as const;

/** The caller's. */
const OwnAvatar = OtherText;

export const uploadAvatar = defineEndpoint({
  operationId: "upload-avatar",
  method: "POST",
  path: "/users/me/avatar",
  authentication: "user",
  effectiveness: "durable",
  summary: "Sets the caller's avatar: one file in a multipart body, decoded and re-encoded.",
  upload: { bytesMax: limits.avatar_bytes_max },
  params: {},
  ok: { avatar_url: OwnAvatar },
  errors: [],
});

export const deleteAvatar = defineEndpoint({
  operationId: "delete-avatar",
  method: "DELETE",
  path: "/users/me/avatar",
  authentication: "user",
  effectiveness: "durable",
  summary: "Removes the caller's avatar; the one derived from the email address is used again.",
  params: {},
  ok: { avatar_url: OwnAvatar },
  errors: [],
});

/** Parameters of its commands, by type. */
export interface AvatarsCommands {
  /**
   * `file`: the name that the row stores (schemas/files.ts), without the realm id; null: the avatar derived from the
   * email address.
   */
  "user.avatar.set": { readonly file: string | null };
}

/** Their replies, by type; other commands reply without fields. */
export interface AvatarsReplies {
  readonly "user.avatar.set": ResultOf<typeof uploadAvatar>;
}

export const avatarsArea = defineArea({
  endpoints: [uploadAvatar, deleteAvatar],
  commands: defineCommands<AvatarsCommands, AvatarsReplies>(),
  limits,
});
