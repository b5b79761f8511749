/**
 * The files that a message links to. A link claims a file if the message's author may see the file (S1); then everybody
 * who can read the message may see it. Links are found in the message's text only.
 */

import { attachmentBody, checkVisibility, linkedAttachment } from "../../domain/attachments.ts";
import type { View } from "../../domain/view.ts";
import type { Answer } from "../../schemas/answer.ts";
import type { AttachmentRecord } from "../../schemas/attachments.ts";
import type { MessageId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { type Effect, effects } from "../protocol/effects.ts";
import { attachmentEvent, recheckAttachments } from "./attachment-events.ts";

/**
 * The files claimed by an author's text.
 * @param linked ids of files that the message already links to
 */
function linkableBy(
  view: View,
  writer: UserRecord,
  paths: readonly string[],
  linked: readonly number[] = [],
): Map<number, AttachmentRecord> {
  const linkable = new Map<number, AttachmentRecord>();
  for (const path of paths.slice(0, limits.attachments_per_message_max)) {
    const attachment = linkedAttachment(view, path);
    if (attachment === undefined) continue;
    const { isVisible } = checkVisibility(view, writer, attachment, limits.attachment_messages_listed_max);
    if (isVisible || linked.includes(attachment.id)) linkable.set(attachment.id, attachment);
  }
  return linkable;
}

function link(view: View, attachment: AttachmentRecord, messageId: MessageId): Effect[] {
  const { id, unclaimedSince } = attachment;
  return [
    effects.put("attachmentMessages", [id, messageId], {}),
    effects.put("messageAttachments", [messageId, id], {}),
    ...(unclaimedSince === null ? [] : [effects.put("attachments", id, { ...attachment, unclaimedSince: null })]),
    attachmentEvent("update", attachment, view.counter("attachmentBytes")),
  ];
}

/** For a new message. */
export function linkAttachments(
  view: View,
  writer: UserRecord,
  messageId: MessageId,
  paths: readonly string[],
): readonly Effect[] {
  if (paths.length === 0) return [];
  return [...linkableBy(view, writer, paths).values()].flatMap((attachment) => link(view, attachment, messageId));
}

interface Relinked {
  readonly effects: readonly Effect[];
  /** The author's own files to which nothing links any more (OpenAPI, detached_uploads). */
  readonly detached: readonly Answer[];
}

/** For an edited message. Existing links stay valid even if the author may no longer see the file. */
export function relinkAttachments(
  view: View,
  writer: UserRecord,
  messageId: MessageId,
  paths: readonly string[],
): Relinked {
  const before = linkedIds(view, messageId);
  if (before.length === 0 && paths.length === 0) return { effects: [], detached: [] };
  const after = linkableBy(view, writer, paths, before);
  const gone = before.filter((id) => !after.has(id));
  const added = [...after.values()].filter(({ id }) => !before.includes(id));
  return {
    effects: [
      ...gone.flatMap((id) => unlink(id, messageId)),
      ...added.flatMap((attachment) => link(view, attachment, messageId)),
      ...recheckAttachments(gone),
    ],
    detached: gone.flatMap((id) => detachedBody(view, writer, id, messageId)),
  };
}

function detachedBody(view: View, writer: UserRecord, id: number, messageId: MessageId): Answer[] {
  const attachment = view.row("attachments", id);
  if (attachment === undefined || attachment.ownerId !== writer.id) return [];
  const links = view.keys("attachmentMessages", { start: [id], end: [id + 1], limit: 2 });
  return links.some(([, other]) => other !== messageId) ? [] : [attachmentBody(view, writer, attachment, messageId)];
}

function linkedIds(view: View, messageId: MessageId): number[] {
  const range = { start: [messageId], end: [messageId + 1], limit: limits.attachments_per_message_max };
  return view.keys("messageAttachments", range).map(([, id]) => id);
}

function unlink(id: number, messageId: MessageId): Effect[] {
  return [effects.remove("attachmentMessages", [id, messageId]), effects.remove("messageAttachments", [messageId, id])];
}

/** For deleted messages. */
export function releaseAttachments(view: View, messageIds: readonly MessageId[]): readonly Effect[] {
  const links = messageIds.flatMap((messageId) => linkedIds(view, messageId).map((id) => ({ id, messageId })));
  return [
    ...links.flatMap(({ id, messageId }) => unlink(id, messageId)),
    ...recheckAttachments(links.map(({ id }) => id)),
  ];
}
