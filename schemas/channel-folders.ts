/** Folders that group channels (spec 2.10, 4.5; public API: create, get, update and reorder channel folders). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { flag, Id, Ids, nullable } from "./types.ts";

export const ChannelFolder = Type.Object({
  id: Id,
  name: Type.String(),
  description: Type.String(),
  rendered_description: Type.String(),
  creator_id: nullable(Id),
  /** UNIX seconds. */
  date_created: Type.Integer(),
  is_archived: Type.Boolean(),
  /** 0 comes first. */
  order: Type.Integer(),
});

export const createChannelFolder = defineEndpoint({
  operationId: "create-channel-folder",
  method: "POST",
  path: "/channel_folders/create",
  authentication: "user",
  effectiveness: "durable",
  role: "administrator",
  summary: "Adds a channel folder, at the end of the list (spec 4.5); organization administrators only.",
  params: { name: Type.String(), description: Type.String() },
  ok: { channel_folder_id: Id },
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const getChannelFolders = defineEndpoint({
  operationId: "get-channel-folders",
  method: "GET",
  path: "/channel_folders",
  authentication: "user",
  effectiveness: "read",
  summary: "The organization's channel folders, in their order.",
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
  summary: "Puts the channel folders into another order; every one must be named once, the archived ones, too.",
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
