/** Durable shapes of uploaded files (public API: attachments). The rules of `schemas/records.ts` hold. */

export interface UploadedPicture {
  readonly widthPx: number;
  readonly heightPx: number;
  readonly contentType: string;
  /** Absent in rows from before there were thumbnails: these pictures are treated as still. */
  readonly isAnimated?: boolean;
}

export interface AttachmentRecord {
  readonly id: number;
  readonly ownerId: number;
  /** 32 hexadecimal digits: its name on disk, and what nobody guesses in its address. */
  readonly file: string;
  /** What its owner called it: a label. */
  readonly name: string;
  /** The last part of its address: `name` without what an address should not hold. */
  readonly pathName: string;
  readonly size: number;
  readonly createdAt: number;
  /** Of a picture that can be shown in a message; null: of anything else. */
  readonly image: UploadedPicture | null;
  /** Since when no message links to it; null: one does. */
  readonly unclaimedSince: number | null;
  /** Of its bytes, in base64url; null: it was uploaded before this was kept. */
  readonly sha256: string | null;
}

/** Which messages link to which files, once from each side; the keys say all. */
export interface AttachmentTables {
  attachments: { key: number; row: AttachmentRecord };
  /** By name on disk. */
  attachmentFiles: { key: string; row: { readonly id: number } };
  /** By owner: bytes of all their files. No row: they were not counted yet. */
  uploadUsage: { key: number; row: { readonly bytes: number } };
  userAttachments: { key: readonly [userId: number, attachmentId: number]; row: Readonly<Record<string, never>> };
  attachmentMessages: {
    key: readonly [attachmentId: number, messageId: number];
    row: Readonly<Record<string, never>>;
  };
  messageAttachments: {
    key: readonly [messageId: number, attachmentId: number];
    row: Readonly<Record<string, never>>;
  };
}

export const attachmentRowFields = {
  attachments: ["id", "ownerId", "file", "name", "pathName", "size", "createdAt", "image", "unclaimedSince", "sha256"],
  attachmentFiles: ["id"],
  uploadUsage: ["bytes"],
  userAttachments: [],
  attachmentMessages: [],
  messageAttachments: [],
} as const satisfies { readonly [T in keyof AttachmentTables]: readonly (keyof AttachmentTables[T]["row"])[] };
