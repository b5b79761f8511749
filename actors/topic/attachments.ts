/**
 * Which files a message links to. A link claims a file when its writer may see it (S1): then whoever can read the message may
 * see it, too. What is written in the message decides; nothing else does.
 */
import { limits } from "../../schemas/limits.ts";
import type { AttachmentRecord, UserRecord } from "../../schemas/records.ts";
import { attachmentBody, glanceAt, linkedAttachment } from "../../src/domain/attachments.ts";
import type { View } from "../../src/domain/view.ts";
import { attachmentEvent, recountAttachments } from "../attachment-events.ts";
import { type Answer, type Effect, effects } from "../effects.ts";

/** The files that a text of this writer's claims. @param linked ids of those that the message links to already */
function claimedBy(
  view: View,
  writer: UserRecord,
  paths: readonly string[],
  linked: readonly number[] = [],
): Map<number, AttachmentRecord> {
  const claimed = new Map<number, AttachmentRecord>();
  for (const path of paths.slice(0, limits.attachments_per_message_max)) {
    const attachment = linkedAttachment(view, path);
    if (attachment === undefined) continue;
    const { isVisible } = glanceAt(view, writer, attachment, limits.attachment_messages_told_max);
    if (isVisible || linked.includes(attachment.id)) claimed.set(attachment.id, attachment);
  }
  return claimed;
}

function link(view: View, attachment: AttachmentRecord, messageId: number): Effect[] {
  const { id, unclaimedSince } = attachment;
  return [
    effects.put("attachmentMessages", [id, messageId], {}),
    effects.put("messageAttachments", [messageId, id], {}),
    ...(unclaimedSince === null ? [] : [effects.put("attachments", id, { ...attachment, unclaimedSince: null })]),
    attachmentEvent("update", attachment, view.counter("attachmentBytes")),
  ];
}

/** A new message. */
export function claimAttachments(
  view: View,
  writer: UserRecord,
  messageId: number,
  paths: readonly string[],
): readonly Effect[] {
  if (paths.length === 0) return [];
  return [...claimedBy(view, writer, paths).values()].flatMap((attachment) => link(view, attachment, messageId));
}

interface Relinked {
  readonly effects: readonly Effect[];
  /** The writer's own files that nothing links to from now on (OpenAPI, detached_uploads). */
  readonly detached: readonly Answer[];
}

/** A message with another text. What it linked to already stays linked, whatever its writer may see by now. */
export function relinkAttachments(
  view: View,
  writer: UserRecord,
  messageId: number,
  paths: readonly string[],
): Relinked {
  const before = linkedIds(view, messageId);
  if (before.length === 0 && paths.length === 0) return { effects: [], detached: [] };
  const after = claimedBy(view, writer, paths, before);
  const gone = before.filter((id) => !after.has(id));
  const added = [...after.values()].filter(({ id }) => !before.includes(id));
  return {
    effects: [
      ...gone.flatMap((id) => unlink(id, messageId)),
      ...added.flatMap((attachment) => link(view, attachment, messageId)),
      ...recountAttachments(gone),
    ],
    detached: gone.flatMap((id) => detachedBody(view, writer, id, messageId)),
  };
}

function detachedBody(view: View, writer: UserRecord, id: number, messageId: number): Answer[] {
  const attachment = view.row("attachments", id);
  if (attachment === undefined || attachment.ownerId !== writer.id) return [];
  const links = view.keys("attachmentMessages", { start: [id], end: [id + 1], limit: 2 });
  return links.some(([, other]) => other !== messageId) ? [] : [attachmentBody(view, writer, attachment, messageId)];
}

function linkedIds(view: View, messageId: number): number[] {
  const range = { start: [messageId], end: [messageId + 1], limit: limits.attachments_per_message_max };
  return view.keys("messageAttachments", range).map(([, id]) => id);
}

function unlink(id: number, messageId: number): Effect[] {
  return [effects.remove("attachmentMessages", [id, messageId]), effects.remove("messageAttachments", [messageId, id])];
}

/** Messages that cease to be. */
export function releaseAttachments(view: View, messageIds: readonly number[]): readonly Effect[] {
  const links = messageIds.flatMap((messageId) => linkedIds(view, messageId).map((id) => ({ id, messageId })));
  return [
    ...links.flatMap(({ id, messageId }) => unlink(id, messageId)),
    ...recountAttachments(links.map(({ id }) => id)),
  ];
}
