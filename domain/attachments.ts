/**
 * Uploaded files: their URLs, and who may see them. Access follows the messages that link to a file: a user who can
 * read one of them may see the file, so a move, a deletion or a subscription changes access without touching the file.
 */

import type { AttachmentRecord } from "../schemas/attachments.ts";
import { pathIdOf } from "../schemas/files.ts";
import type { MessageId } from "../schemas/ids.ts";
import { limits } from "../schemas/limits.ts";
import type { UserRecord } from "../schemas/users.ts";
import { canReadMessage } from "./permissions.ts";
import type { View } from "./view.ts";

/** `<realm>/<two digits>/<thirty digits>/<name>`. */
const shape = /^(\d{1,15})\/([0-9a-f]{2})\/([0-9a-f]{30})\/([^/]+)$/;

/** The file at a decoded path below `uploadsPath`; undefined if this organization has no such file. */
export function attachmentAt(view: View, path: string): AttachmentRecord | undefined {
  const [, realmId, first = "", rest = ""] = shape.exec(path) ?? [];
  if (Number(realmId) !== view.realm.id) return undefined;
  const id = view.row("attachmentFiles", first + rest)?.id;
  const row = id === undefined ? undefined : view.row("attachments", id);
  return row !== undefined && pathIdOf(view.realm.id, row) === path ? row : undefined;
}

/** The same for a path in a link, percent-encoded or not. */
export function linkedAttachment(view: View, path: string): AttachmentRecord | undefined {
  try {
    return attachmentAt(view, decodeURIComponent(path));
  } catch {
    return undefined;
  }
}

/** Whether the server makes thumbnails of a file. */
export function hasThumbnail({ image, size }: Pick<AttachmentRecord, "image" | "size">): boolean {
  return image !== null && size <= limits.thumbnail_source_bytes_max;
}

const unsafeInAddress = /[^\p{L}\p{M}\p{N}_.\s-]/gu;

/**
 * Turns a name into the last part of a URL: letters, digits, marks, `_`, `.` and `-`; never empty, and never only dots.
 */
export function addressableName(label: string): string {
  const plain = label
    .normalize("NFKC")
    .replace(unsafeInAddress, "")
    .trim()
    .replace(/[\s-]+/g, "-");
  const cut = shortened(plain, limits.upload_path_name_bytes_max, encodedBytes);
  return /^\.*$/.test(cut) ? "uploaded-file" : cut;
}

/**
 * Shortens a name at the end of its stem, because the extension shows the file type.
 * @param sizeOf size of a text: the sum of the sizes of its characters
 */
export function shortened(name: string, max: number, sizeOf: (text: string) => number): string {
  if (sizeOf(name) <= max) return name;
  const ending = /\.[\p{L}\p{N}]{1,10}$/u.exec(name)?.[0] ?? "";
  let left = max - sizeOf(ending);
  let stem = "";
  for (const character of name.slice(0, name.length - ending.length)) {
    left -= sizeOf(character);
    if (left < 0) break;
    stem += character;
  }
  return stem + ending;
}

function encodedBytes(text: string): number {
  return encodeURIComponent(text).length;
}

/** Result of one check of the messages that link to a file. */
export interface VisibilityCheck {
  readonly isVisible: boolean;
  /** Where the next check continues, downwards; null if all were checked. */
  readonly before: number | null;
}

/**
 * Whether a reader may see a file, judged by its newest messages.
 * @param limit maximum number of messages to check
 */
export function checkVisibility(
  view: View,
  reader: UserRecord,
  { id, ownerId }: AttachmentRecord,
  limit: number,
  before = Number.MAX_SAFE_INTEGER,
): VisibilityCheck {
  if (reader.id === ownerId) return { isVisible: true, before: null };
  const keys = view.keys("attachmentMessages", { start: [id, before], end: [id], reverse: true, limit });
  const isVisible = keys.some(([, messageId]) => isReadable(view, reader, messageId));
  const last = keys.at(-1)?.[1];
  return { isVisible, before: isVisible || keys.length < limit || last === undefined ? null : last - 1 };
}

/**
 * A file as its owner sees it (OpenAPI, Attachment). Messages that the owner cannot read are not listed (S1).
 * @param without id of a message that no longer links to the file
 */
export function attachmentBody(view: View, owner: UserRecord, attachment: AttachmentRecord, without = 0) {
  const { id, name, size, createdAt } = attachment;
  const range = { start: [id, Number.MAX_SAFE_INTEGER], end: [id], reverse: true };
  const keys = view.keys("attachmentMessages", { ...range, limit: limits.attachment_messages_listed_max });
  const messages = keys
    .filter(([, messageId]) => messageId !== without && isReadable(view, owner, messageId))
    .map(([, messageId]) => ({ id: messageId, date_sent: wholeSeconds(view.row("messages", messageId)?.sentAt ?? 0) }))
    .reverse();
  return {
    id,
    name,
    path_id: pathIdOf(view.realm.id, attachment),
    size,
    create_time: wholeSeconds(createdAt),
    messages,
  };
}

/** Milliseconds rounded down to whole seconds, as clients expect. */
function wholeSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000) * 1000;
}

function isReadable(view: View, reader: UserRecord, messageId: MessageId): boolean {
  const message = view.row("messages", messageId);
  return message !== undefined && canReadMessage(view, reader, message);
}
