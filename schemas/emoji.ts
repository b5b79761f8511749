/** Custom emoji of an organization (public API: upload-custom-emoji, get-custom-emoji, deactivate-custom-emoji). */
import { type Static, Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import { OtherText, UserId } from "./person-marks.ts";
import { nullable } from "./types.ts";

const limits = {
  emoji_bytes_max: 5 * 1024 * 1024,
  emoji_name_code_points_max: 100,
  /** Including deactivated ones, which old messages still show. */
  emoji_per_realm_max: 2000,
  /** Those that one person who is not an administrator added, with the person's bots. */
  emoji_per_person_max: 100,
  emoji_size_px: 64,
  emoji_frames_max: 300,
} as const;

/** Names are checked by domain/custom-emoji.ts, which has its own error messages. */
const EmojiName = Type.String();

const CustomEmoji = Type.Object(
  {
    id: OtherText,
    name: OtherText,
    source_url: OtherText,
    /** First frame of an animated emoji; null if it is not animated. */
    still_url: nullable(OtherText),
    deactivated: Type.Boolean(),
    author_id: UserId,
  },
  { title: "CustomEmoji" },
);
export type CustomEmoji = Readonly<Static<typeof CustomEmoji>>;

export const EmojiById = Type.Record(Type.String(), CustomEmoji);

export const uploadEmoji = defineEndpoint({
  operationId: "upload-custom-emoji",
  method: "POST",
  path: "/realm/emoji/{emoji_name}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Adds a custom emoji: one file in a multipart body, decoded and re-encoded.",
  upload: { bytesMax: limits.emoji_bytes_max },
  params: { emoji_name: EmojiName },
  ok: {},
  errors: [],
});

export const getEmoji = defineEndpoint({
  operationId: "get-custom-emoji",
  method: "GET",
  path: "/realm/emoji",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns all custom emoji by id, deactivated ones included.",
  params: {},
  ok: {
    emoji: EmojiById,
  },
  errors: [],
});

export const deactivateEmoji = defineEndpoint({
  operationId: "deactivate-custom-emoji",
  method: "DELETE",
  path: "/realm/emoji/{emoji_name}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Deactivates a custom emoji; only its author and administrators. Existing messages and reactions keep it.",
  params: { emoji_name: EmojiName },
  ok: {},
  errors: ["NOT_FOUND"],
});

/** A custom emoji (public API: /realm/emoji). Deactivated ones are kept for existing content. */
export interface RealmEmojiRecord {
  readonly id: number;
  readonly name: string;
  readonly authorId: UserId;
  readonly isActive: boolean;
  /** Name of the image in the realm's files. */
  readonly file: string;
  /** Name of the first frame if the emoji is animated. */
  readonly stillFile: string | null;
  readonly createdAt: number;
}

/** Parameters of its commands, by type. */
export interface EmojiCommands {
  "emoji.add": { readonly name: string; readonly file: string; readonly stillFile: string | null };
  "emoji.deactivate": { readonly name: string };
}

export const emojiArea = defineArea({
  endpoints: [uploadEmoji, getEmoji, deactivateEmoji],
  commands: defineCommands<EmojiCommands>(),
  state: { realm_emoji: { realm_emoji: EmojiById } },
  tables: {
    realmEmoji: defineTable<number, RealmEmojiRecord>({
      fields: ["id", "name", "authorId", "isActive", "file", "stillFile", "createdAt"],
      dates: ["createdAt"],
    }),
  },
  counters: ["emoji"],
  limits,
});
