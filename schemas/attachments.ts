/** Uploaded files (public API: upload-file, get-file-temporary-url, get-attachments, remove-attachment). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { Id } from "./types.ts";

/** A file as its owner is told of it (OpenAPI, Attachment). */
export const Attachment = Type.Object({
  id: Id,
  name: Type.String(),
  path_id: Type.String(),
  size: Type.Integer(),
  create_time: Type.Integer(),
  messages: Type.Array(Type.Object({ id: Id, date_sent: Type.Integer() })),
});

export const uploadFile = defineEndpoint({
  operationId: "upload-file",
  method: "POST",
  path: "/user_uploads",
  authentication: "user",
  effectiveness: "durable",
  summary: "Keeps one file, written to disk as it comes; a link in a message shows it to who can read the message.",
  upload: { bytesMax: null },
  params: {},
  ok: { url: Type.String(), uri: Type.String(), filename: Type.String() },
  errors: ["REALM_UPLOAD_QUOTA"],
});

export const getFileTemporaryUrl = defineEndpoint({
  operationId: "get-file-temporary-url",
  method: "GET",
  path: "/user_uploads/{realm_id_str}/{filename*}",
  authentication: "optional",
  effectiveness: "read",
  summary: "An address under which anybody gets the file for a minute.",
  params: { realm_id_str: Id, filename: Type.String() },
  ok: { url: Type.String() },
  errors: ["NOT_FOUND"],
});

export const getAttachments = defineEndpoint({
  operationId: "get-attachments",
  method: "GET",
  path: "/attachments",
  authentication: "user",
  effectiveness: "read",
  summary: "The caller's files, and how much all files of the organization take.",
  params: {},
  ok: { attachments: Type.Array(Attachment), upload_space_used: Type.Integer() },
  errors: [],
});

export const removeAttachment = defineEndpoint({
  operationId: "remove-attachment",
  method: "DELETE",
  path: "/attachments/{attachment_id}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Deletes a file of the caller's for good; links to it lead nowhere from now on.",
  params: { attachment_id: Id },
  ok: {},
  errors: [],
});
