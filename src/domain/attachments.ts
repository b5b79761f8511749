/**
 * Uploaded files: how they are addressed, and who may see them. The truth is the messages that link to a file: whoever can read
 * one of them may see it, so a move, a deletion or a subscription changes that without touching the file.
 */
import { pathIdOf } from "../../schemas/files.ts";
import { limits } from "../../schemas/limits.ts";
import type { AttachmentRecord, UserRecord } from "../../schemas/records.ts";
import { canReadMessage } from "./permissions.ts";
import type { View } from "./view.ts";

/** `<realm>/<two digits>/<thirty digits>/<name>`. */
const shape = /^(\d{1,15})\/([0-9a-f]{2})\/([0-9a-f]{30})\/([^/]+)$/;

/** The file that a decoded path below `uploadsPath` names; undefined: none of this organization's. */
export function attachmentAt(view: View, path: string): AttachmentRecord | undefined {
  const [, realmId, first = "", rest = ""] = shape.exec(path) ?? [];
  if (Number(realmId) !== view.realm.id) return undefined;
  const id = view.row("attachmentFiles", first + rest)?.id;
  const row = id === undefined ? undefined : view.row("attachments", id);
  return row !== undefined && pathIdOf(view.realm.id, row) === path ? row : undefined;
}

/** The same for a path as it stands in a link, percent-encoded or not. */
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

/** A name as the last part of an address: letters, digits, marks, `_`, `.` and `-`; never empty, never dots alone. */
export function addressableName(label: string): string {
  const plain = label
    .normalize("NFKC")
    .replace(unsafeInAddress, "")
    .trim()
    .replace(/[\s-]+/g, "-");
  const cut = shortened(plain, limits.upload_path_name_bytes_max, encodedBytes);
  return /^\.*$/.test(cut) ? "uploaded-file" : cut;
}

/** What is too long loses the end of its stem: the ending says what it is. @param sizeOf of a text, the sum of its characters' */
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

/** One look at the messages that link to a file. */
export interface Glance {
  readonly isVisible: boolean;
  /** Where the next look begins, downwards; null: all were looked at. */
  readonly before: number | null;
}

/** Whether a reader may see a file, by the newest of its messages. @param limit of messages that are looked at */
export function glanceAt(
  view: View,
  reader: UserRecord,
  { id, ownerId }: AttachmentRecord,
  limit: number,
  before = Number.MAX_SAFE_INTEGER,
): Glance {
  if (reader.id === ownerId) return { isVisible: true, before: null };
  const keys = view.keys("attachmentMessages", { start: [id, before], end: [id], reverse: true, limit });
  const isVisible = keys.some(([, messageId]) => isReadable(view, reader, messageId));
  const last = keys.at(-1)?.[1];
  return { isVisible, before: isVisible || keys.length < limit || last === undefined ? null : last - 1 };
}

/**
 * A file as its owner is told of it (OpenAPI, Attachment). Messages that the owner cannot read are not named (S1).
 * @param without a message that does not link to it any more
 */
export function attachmentBody(view: View, owner: UserRecord, attachment: AttachmentRecord, without = 0) {
  const { id, name, size, createdAt } = attachment;
  const range = { start: [id, Number.MAX_SAFE_INTEGER], end: [id], reverse: true };
  const keys = view.keys("attachmentMessages", { ...range, limit: limits.attachment_messages_told_max });
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

/** Milliseconds of a whole second, as clients know them. */
function wholeSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000) * 1000;
}

function isReadable(view: View, reader: UserRecord, messageId: number): boolean {
  const message = view.row("messages", messageId);
  return message !== undefined && canReadMessage(view, reader, message);
}
