/** Uploaded files (public API: upload-file, get-file-temporary-url, get-attachments, remove-attachment). */

import { Type } from "typebox";
import { defineArea, defineCommands, defineTable, type Empty } from "./area.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import type { MessageId, UserId } from "./ids.ts";
import { OtherId, OtherText } from "./person-marks.ts";
import { Id } from "./types.ts";

const limits = {
  /** Memory held by an upload that is streamed to disk: one chunk of the socket, and data waiting to be written. */
  upload_buffer_bytes: 1024 * 1024,
  upload_chunk_bytes: 64 * 1024,
  upload_file_mib_default: 25,
  upload_file_mib_max: 100 * 1024,
  /** All files of an organization. The quota per user prevents one user from using all of it. */
  upload_quota_mib_default: 10 * 1024,
  upload_quota_per_user_mib_default: 1024,
  upload_quota_mib_max: 1024 * 1024 * 1024,
  /** A smaller file counts as this much in its owner's quota, which thus bounds the number of files, too. */
  upload_charged_bytes_min: 16 * 1024,
  /** Headers of one part of a multipart body: their bytes, their lines, and the parameters of one of them. */
  upload_part_headers_bytes_max: 16 * 1024,
  upload_part_headers_max: 20,
  upload_part_header_parameters_max: 20,
  upload_path_name_bytes_max: 600,
  upload_kept_unclaimed_ms: 5 * 7 * 24 * 60 * 60 * 1000,
  upload_image_header_bytes: 256 * 1024,
  temporary_url_ms: 60 * 1000,
  download_chunk_bytes: 64 * 1024,
  download_stall_ms_max: 60 * 1000,
  downloads_concurrent_max: 1000,
  /** File links per message; the longest message has room for hardly more. */
  attachments_per_message_max: 100,
  attachments_listed_max: 10_000,
  attachments_per_command_max: 500,
  /**
   * The number of messages, newest first, that are listed for a file or searched for one that the caller can read (a
   * message may link to many files).
   */
  attachment_messages_listed_max: 100,
  /** The same per pass: messages that lose a link in one turn, or that are examined before other requests run. */
  attachment_messages_per_pass_max: 1000,
  upload_bytes_in_flight_max: 64 * 1024 * 1024,
  uploads_per_user_max: 3,
  file_name_code_points_max: 255,
} as const;

/** An uploaded file as its owner sees it (OpenAPI, Attachment). */
export const Attachment = Type.Object(
  {
    id: OtherId,
    name: OtherText,
    path_id: OtherText,
    size: Type.Integer(),
    create_time: Type.Integer(),
    messages: Type.Array(Type.Object({ id: OtherId, date_sent: Type.Integer() })),
  },
  { title: "Attachment" },
);

export const uploadFile = defineEndpoint({
  operationId: "upload-file",
  method: "POST",
  path: "/user_uploads",
  authentication: "user",
  effectiveness: "durable",
  summary:
    "Uploads one file, which is streamed to disk. A link in a message makes it visible to readers of the message.",
  upload: { bytesMax: null },
  params: {},
  ok: { url: OtherText, uri: OtherText, filename: OtherText },
  errors: ["REALM_UPLOAD_QUOTA"],
});

export const getFileTemporaryUrl = defineEndpoint({
  operationId: "get-file-temporary-url",
  method: "GET",
  path: "/user_uploads/{realm_id_str}/{filename*}",
  authentication: "optional",
  effectiveness: "read",
  summary: "Returns a URL that gives anybody access to the file for one minute.",
  params: { realm_id_str: Id, filename: Type.String() },
  ok: { url: OtherText },
  errors: ["NOT_FOUND"],
});

export const getAttachments = defineEndpoint({
  operationId: "get-attachments",
  method: "GET",
  path: "/attachments",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns the caller's files, and the total size of all files in the organization.",
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
  summary: "Permanently deletes one of the caller's files; links to it stop working.",
  params: { attachment_id: Id },
  ok: {},
  errors: [],
});

export interface UploadedPicture {
  readonly widthPx: number;
  readonly heightPx: number;
  readonly contentType: string;
  /** Absent in rows written before thumbnails existed; such images are treated as still. */
  readonly isAnimated?: boolean;
}

export interface AttachmentRecord {
  readonly id: number;
  readonly ownerId: UserId;
  /** 32 hexadecimal digits: the name on disk, and the unguessable part of the URL. */
  readonly file: string;
  /** The name given by the owner, used as a label. */
  readonly name: string;
  /** Last part of the URL: `name` without characters that are invalid in a URL. */
  readonly pathName: string;
  readonly size: number;
  readonly createdAt: number;
  /** Set for an image that can be shown in messages; null: any other file. */
  readonly image: UploadedPicture | null;
  /** When the last message link was removed; null: a message links to it. */
  readonly unclaimedSince: number | null;
  /** SHA-256 of the contents, base64url; null: uploaded before hashes were stored. */
  readonly sha256: string | null;
}

/** null: unlimited. */
export interface UploadQuotas {
  readonly realmQuotaBytes: number | null;
  readonly personQuotaBytes: number | null;
}

/** Parameters of its commands, by type. */
export interface AttachmentsCommands {
  "attachment.remove": { readonly attachmentId: number };
  "attachment.expire": { readonly attachmentId: number; readonly unclaimedSince: number };
  "attachments.recheck": { readonly attachmentIds: readonly number[] };
  /** The file is already on disk under its name (schemas/files.ts). */
  "attachment.add": Pick<AttachmentRecord, "file" | "name" | "size" | "image" | "sha256"> & UploadQuotas;
}

/** Their replies, by type; other commands reply without fields. */
export interface AttachmentsReplies {
  readonly "attachment.add": ResultOf<typeof uploadFile>;
}

export const attachmentsArea = defineArea({
  endpoints: [uploadFile, getFileTemporaryUrl, getAttachments, removeAttachment],
  commands: defineCommands<AttachmentsCommands, AttachmentsReplies>(),
  tables: {
    attachments: defineTable<number, AttachmentRecord>({
      fields: ["id", "ownerId", "file", "name", "pathName", "size", "createdAt", "image", "unclaimedSince", "sha256"],
      dates: ["createdAt", "unclaimedSince"],
    }),
    /** By name on disk. */
    attachmentFiles: defineTable<string, { readonly id: number }>({
      fields: ["id"],
    }),
    /** By owner: what their files count in their quota. No row: not counted yet. */
    uploadUsage: defineTable<UserId, { readonly bytes: number }>({
      fields: ["bytes"],
    }),
    userAttachments: defineTable<readonly [userId: UserId, attachmentId: number], Empty>({
      fields: [],
    }),
    attachmentMessages: defineTable<readonly [attachmentId: number, messageId: MessageId], Empty>({
      fields: [],
    }),
    messageAttachments: defineTable<readonly [messageId: MessageId, attachmentId: number], Empty>({
      fields: [],
    }),
  },
  counters: [
    "attachment",
    /** Total size of all attachments; it can decrease. */
    "attachmentBytes",
  ],
  limits,
});
