/** How a file's owner hears of it (public API: `attachment` events), and how a file goes. */
import { uploadName } from "../schemas/files.ts";
import { limits } from "../schemas/limits.ts";
import type { AttachmentRecord } from "../schemas/records.ts";
import type { View } from "../src/domain/view.ts";
import { command } from "./commands.ts";
import { type Effect, effects } from "./effects.ts";

/** What the owner is told is built when it is delivered. @param bytes of all attachments, after the change */
export function attachmentEvent(op: "add" | "update", { id, ownerId }: AttachmentRecord, bytes: number): Effect {
  const body = { op, attachment_id: id, upload_space_used: bytes };
  return effects.emit("attachment", body, { to: "users", ids: [ownerId] });
}

/** Bytes of somebody's files. Those of a store from before quotas are counted once, when their owner uploads the next one. */
export function usageOf(view: View, ownerId: number): number {
  const known = view.row("uploadUsage", ownerId)?.bytes;
  if (known !== undefined) return known;
  const limit = limits.attachments_listed_max;
  const ids = view.keys("userAttachments", { start: [ownerId], end: [ownerId + 1], limit });
  return ids.reduce((sum, [, id]) => sum + (view.row("attachments", id)?.size ?? 0), 0);
}

/** Removes a file that no message links to any more, and its bytes. */
export function removeFile(view: View, { id, ownerId, file, size }: AttachmentRecord): Effect[] {
  const bytes = view.counter("attachmentBytes") - size;
  const body = { op: "remove", attachment: { id }, upload_space_used: bytes };
  return [
    effects.remove("attachments", id),
    effects.remove("attachmentFiles", file),
    effects.remove("userAttachments", [ownerId, id]),
    effects.count("attachmentBytes", bytes),
    effects.put("uploadUsage", ownerId, { bytes: usageOf(view, ownerId) - size }),
    effects.discard(uploadName(file)),
    effects.emit("attachment", body, { to: "users", ids: [ownerId] }),
  ];
}

/** A durable timer (M8). It names the moment since when nothing links to the file: a link in between makes it void. */
export function expiryOf({ id }: AttachmentRecord, unclaimedSince: number): Effect {
  const expiry = command({ actor: "realm" }, "attachment.expire", { attachmentId: id, unclaimedSince }, null);
  return effects.schedule(unclaimedSince + limits.upload_kept_unclaimed_ms, expiry);
}

/** Files that lost a link in this command, or their row: they are looked at when it has been carried out. */
export function recountAttachments(attachmentIds: readonly number[]): Effect[] {
  const ids = [...new Set(attachmentIds)];
  const perCommand = limits.attachments_per_command_max;
  const count = Math.ceil(ids.length / perCommand);
  return Array.from({ length: count }, (_, index) => {
    const some = ids.slice(index * perCommand, (index + 1) * perCommand);
    return effects.tell(command({ actor: "realm" }, "attachments.recount", { attachmentIds: some }, null));
  });
}
