/**
 * Handles files that are no longer linked: they are kept for a while and then deleted (public API: a few weeks). Each
 * command processes a bounded number of rows and sends itself the rest.
 */

import { scheduledMessagesOf } from "../../domain/scheduled-messages.ts";
import type { View } from "../../domain/view.ts";
import type { AttachmentRecord } from "../../schemas/attachments.ts";
import { pathIdOf } from "../../schemas/files.ts";
import { limits } from "../../schemas/limits.ts";
import { done, type Effect, effects, forServer, type Outcome, type Params } from "../protocol/decision.ts";
import { attachmentEvent, expiryOf, recheckAttachments, removeFile } from "../rules/attachment-events.ts";

/**
 * Runs after messages lost links to these files, and after a file was deleted. Files without links get an expiry timer.
 */
export function recheckEach(params: Params<"attachments.recheck">, view: View): Outcome {
  return done(
    {},
    params.attachmentIds.flatMap((id) => recheck(view, id)),
  );
}

function recheck(view: View, id: number): Effect[] {
  const attachment = view.row("attachments", id);
  if (attachment === undefined) return removeLinks(view, id);
  const bytes = view.counter("attachmentBytes");
  const isLinked = view.keys("attachmentMessages", { start: [id], end: [id + 1], limit: 1 }).length > 0;
  if (isLinked || attachment.unclaimedSince !== null) return [attachmentEvent("update", attachment, bytes)];
  return [
    effects.put("attachments", id, { ...attachment, unclaimedSince: view.now }),
    expiryOf(attachment, view.now),
    attachmentEvent("update", attachment, bytes),
  ];
}

/** Removes the links to a deleted file. Its messages are unchanged, so their links lead nowhere. */
function removeLinks(view: View, id: number): Effect[] {
  const limit = limits.attachment_messages_per_pass_max;
  const keys = view.keys("attachmentMessages", { start: [id], end: [id + 1], limit });
  const removed = keys.flatMap(([, messageId]) => [
    effects.remove("attachmentMessages", [id, messageId]),
    effects.remove("messageAttachments", [messageId, id]),
  ]);
  return keys.length < limit ? removed : [...removed, ...recheckAttachments([id])];
}

/**
 * Deletes a file whose period without links has ended. The timer is ignored if the file has been linked since. A file
 * in a scheduled message gets another period.
 */
export function expireAttachment(params: Params<"attachment.expire">, view: View): Outcome {
  const attachment = view.row("attachments", params.attachmentId);
  if (attachment === undefined || attachment.unclaimedSince !== params.unclaimedSince) return done({}, []);
  if (!isScheduled(view, attachment)) return done({}, removeFile(view, attachment));
  return done({}, [
    effects.put("attachments", attachment.id, { ...attachment, unclaimedSince: view.now }),
    expiryOf(attachment, view.now),
  ]);
}

/**
 * Whether one of the owner's scheduled messages links to the file. Failed ones count too, because they may still be
 * sent. Other users cannot see such a file yet.
 */
function isScheduled(view: View, { ownerId, file }: AttachmentRecord): boolean {
  // The last part of the path has several valid spellings, so only the part before it is compared.
  const beginning = pathIdOf(view.realm.id, { file, pathName: "" });
  return scheduledMessagesOf(view, ownerId).some(({ content }) => content.includes(beginning));
}

export const attachmentsDecisions = {
  "attachments.recheck": forServer(recheckEach),
  "attachment.expire": forServer(expireAttachment),
} as const;
