/** Effects for uploaded files: the `attachment` events that an owner receives (public API), removal, and expiry. */

import type { View } from "../../domain/view.ts";
import type { AttachmentRecord } from "../../schemas/attachments.ts";
import { uploadName } from "../../schemas/files.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import { command, type Effect, effects } from "../protocol/decision.ts";

/**
 * The attachment's fields are read when the event is delivered.
 * @param bytes total size of all the realm's attachments after the change
 */
export function attachmentEvent(op: "add" | "update", { id, ownerId }: AttachmentRecord, bytes: number): Effect {
  const body = { op, attachment_id: id, upload_space_used: bytes };
  return effects.emit("attachment", body, { to: "users", ids: [ownerId] });
}

/** The bytes that a file counts in its owner's quota: each takes rows, and a place in the file system (S3). */
export function chargeOf(size: number): number {
  return Math.max(size, limits.upload_charged_bytes_min);
}

/**
 * The bytes that a user's files count in the quota. A store from before quotas has no stored total, so it is summed up
 * once, when the owner next uploads a file.
 */
export function usageOf(view: View, ownerId: UserId): number {
  const known = view.row("uploadUsage", ownerId)?.bytes;
  if (known !== undefined) return known;
  const limit = limits.attachments_listed_max;
  const ids = view.keys("userAttachments", { start: [ownerId], end: [ownerId + 1], limit });
  return ids.reduce((sum, [, id]) => sum + chargeOf(view.row("attachments", id)?.size ?? 0), 0);
}

/** Removes a file that no message links to any more, with its contents. */
export function removeFile(view: View, { id, ownerId, file, size }: AttachmentRecord): Effect[] {
  const bytes = view.counter("attachmentBytes") - size;
  const body = { op: "remove" as const, attachment: { id }, upload_space_used: bytes };
  return [
    effects.remove("attachments", id),
    effects.remove("attachmentFiles", file),
    effects.remove("userAttachments", [ownerId, id]),
    effects.setCounter("attachmentBytes", bytes),
    effects.put("uploadUsage", ownerId, { bytes: usageOf(view, ownerId) - chargeOf(size) }),
    effects.discard(uploadName(file)),
    effects.emit("attachment", body, { to: "users", ids: [ownerId] }),
  ];
}

/**
 * A durable timer (M8) that carries the time when the last link was removed. If the file has been linked since, the
 * timer is ignored.
 */
export function expiryOf({ id }: AttachmentRecord, unclaimedSince: number): Effect {
  const expiry = command({ actor: "realm" }, "attachment.expire", { attachmentId: id, unclaimedSince }, null);
  return effects.schedule(unclaimedSince + limits.upload_kept_unclaimed_ms, expiry);
}

/** Sends a command that rechecks files that lost a link or a row in this command. */
export function recheckAttachments(attachmentIds: readonly number[]): Effect[] {
  const ids = [...new Set(attachmentIds)];
  const perCommand = limits.attachments_per_command_max;
  const count = Math.ceil(ids.length / perCommand);
  return Array.from({ length: count }, (_, index) => {
    const some = ids.slice(index * perCommand, (index + 1) * perCommand);
    return effects.send(command({ actor: "realm" }, "attachments.recheck", { attachmentIds: some }, null));
  });
}
