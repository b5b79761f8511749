/**
 * What becomes of files that messages linked to: without a link they are kept for a time, then they go (public API: a few weeks).
 * Every command looks at a bounded number of rows and tells itself the rest.
 */
import { pathIdOf } from "../../schemas/files.ts";
import { limits } from "../../schemas/limits.ts";
import type { AttachmentRecord } from "../../schemas/records.ts";
import { scheduledMessagesOf } from "../../src/domain/scheduled-messages.ts";
import type { View } from "../../src/domain/view.ts";
import { attachmentEvent, expiryOf, recountAttachments, removeFile } from "../attachment-events.ts";
import type { Command } from "../commands.ts";
import { done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";

/** After messages lost links to these files, and after a file was deleted. */
export function lookAtAttachments(_context: unknown, asked: Command<"attachments.recount">, view: View): Outcome {
  return done(
    {},
    asked.params.attachmentIds.flatMap((id) => recount(view, id)),
  );
}

function recount(view: View, id: number): Effect[] {
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

/** The file is gone: its messages are ordinary ones with a link that leads nowhere. */
function removeLinks(view: View, id: number): Effect[] {
  const limit = limits.attachment_messages_per_pass_max;
  const keys = view.keys("attachmentMessages", { start: [id], end: [id + 1], limit });
  const removed = keys.flatMap(([, messageId]) => [
    effects.remove("attachmentMessages", [id, messageId]),
    effects.remove("messageAttachments", [messageId, id]),
  ]);
  return keys.length < limit ? removed : [...removed, ...recountAttachments([id])];
}

/** The timer of a file that nobody linked to, if nobody has since. What its owner will send is waited for: its time begins anew. */
export function expireAttachment(_context: unknown, asked: Command<"attachment.expire">, view: View): Outcome {
  const attachment = view.row("attachments", asked.params.attachmentId);
  if (attachment === undefined || attachment.unclaimedSince !== asked.params.unclaimedSince) return done({}, []);
  if (!isScheduled(view, attachment)) return done({}, removeFile(view, attachment));
  return done({}, [
    effects.put("attachments", attachment.id, { ...attachment, unclaimedSince: view.now }),
    expiryOf(attachment, view.now),
  ]);
}

/** Whether a scheduled message of its owner's, to whom alone it is visible now, has its address: one that failed may be sent yet. */
function isScheduled(view: View, { ownerId, file }: AttachmentRecord): boolean {
  // Its last part may be written in several ways.
  const beginning = pathIdOf(view.realm.id, { file, pathName: "" });
  return scheduledMessagesOf(view, ownerId).some(({ content }) => content.includes(beginning));
}
