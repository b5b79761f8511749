/** Folders that group channels (spec 2.10, 4.5; public API: create, get, update and reorder channel folders). */
import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import { sentAsStored } from "./event.ts";
import type { ParsedContent } from "./parsed-content.ts";
import { OtherId, OtherIds, OtherText, RenderedText, typedBy, UserId } from "./person-marks.ts";
import { flag, Id, Ids, nullable } from "./types.ts";

const limits = {
  channel_folder_name_code_points_max: 60,
  channel_folder_description_code_points_max: 1024,
  channel_folders_per_realm_max: 1000,
} as const;

export const ChannelFolder = Type.Object(
  {
    id: OtherId,
    name: OtherText,
    description: typedBy(null),
    rendered_description: RenderedText,
    creator_id: nullable(UserId),
    /** UNIX seconds. */
    date_created: Type.Integer(),
    is_archived: Type.Boolean(),
    /** Ascending, starting with 0. */
    order: Type.Integer(),
  },
  { title: "ChannelFolder" },
);

export const createChannelFolder = defineEndpoint({
  operationId: "create-channel-folder",
  method: "POST",
  path: "/channel_folders/create",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Adds a channel folder at the end of the list (spec 4.5); organization administrators only.",
  params: { name: Type.String(), description: Type.String() },
  ok: { channel_folder_id: OtherId },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const getChannelFolders = defineEndpoint({
  operationId: "get-channel-folders",
  method: "GET",
  path: "/channel_folders",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns the organization's channel folders in their order.",
  params: { include_archived: flag(false) },
  ok: { channel_folders: Type.Array(ChannelFolder) },
  errors: [],
});

export const reorderChannelFolders = defineEndpoint({
  operationId: "patch-channel-folders",
  method: "PATCH",
  path: "/channel_folders",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Reorders the channel folders; each one must be named once, archived ones included.",
  params: { order: Ids },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const updateChannelFolder = defineEndpoint({
  operationId: "update-channel-folder",
  method: "PATCH",
  path: "/channel_folders/{channel_folder_id}",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Changes a channel folder's name or description, archives or unarchives it. Its channels stay in it.",
  params: {
    channel_folder_id: Id,
    name: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    is_archived: Type.Optional(Type.Boolean()),
  },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

/** A channel folder (spec 2.10, 4.5). Archived folders keep their names. */
export interface ChannelFolderRecord {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly renderedDescription: string;
  readonly creatorId: UserId | null;
  readonly createdAt: number;
  readonly isArchived: boolean;
  /** Position in the list. */
  readonly order: number;
}

/** A folder's description, already checked for length, with its parsed Markdown. */
export interface FolderDescription {
  readonly text: string;
  readonly parsed: ParsedContent;
}

/** Parameters of its commands, by type. */
export interface ChannelFoldersCommands {
  "channel-folder.reorder": { readonly order: readonly number[] };
  "channel-folder.create": { readonly name: string; readonly description: FolderDescription };
  /** null: not passed, keeps its value. */
  "channel-folder.update": {
    readonly folderId: number;
    readonly name: string | null;
    readonly description: FolderDescription | null;
    readonly isArchived: boolean | null;
  };
}

/** Their replies, by type; other commands reply without fields. */
export interface ChannelFoldersReplies {
  readonly "channel-folder.create": ResultOf<typeof createChannelFolder>;
}

export const channelFoldersArea = defineArea({
  endpoints: [createChannelFolder, getChannelFolders, reorderChannelFolders, updateChannelFolder],
  commands: defineCommands<ChannelFoldersCommands, ChannelFoldersReplies>(),
  state: { channel_folders: { channel_folders: Type.Array(ChannelFolder) } },
  tables: {
    channelFolders: defineTable<number, ChannelFolderRecord>({
      fields: ["id", "name", "description", "renderedDescription", "creatorId", "createdAt", "isArchived", "order"],
      dates: ["createdAt"],
    }),
  },
  events: {
    channel_folder: sentAsStored({
      add: { channel_folder: ChannelFolder },
      update: {
        channel_folder_id: OtherId,
        data: Type.Object({
          name: Type.Optional(OtherText),
          description: Type.Optional(typedBy(null)),
          rendered_description: Type.Optional(RenderedText),
          is_archived: Type.Optional(Type.Boolean()),
        }),
      },
      reorder: { order: OtherIds },
    }),
  },
  counters: ["channelFolder"],
  limits,
});
