/**
 * A person's uploaded files (public API: upload-file, remove-attachment). The file is on disk already; here a row claims it.
 * Until a message links to it, it is its owner's alone, and kept for a time.
 */
import { refuse } from "../../schemas/errors.ts";
import { pathIdOf, uploadsPath } from "../../schemas/files.ts";
import type { AttachmentRecord, UserRecord } from "../../schemas/records.ts";
import { addressableName } from "../../src/domain/attachments.ts";
import type { View } from "../../src/domain/view.ts";
import { attachmentEvent, expiryOf, recountAttachments, removeFile, usageOf } from "../attachment-events.ts";
import type { Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";

/** POST /user_uploads. */
export function addAttachment(_context: unknown, asked: Command<"attachment.add">, view: View): Outcome {
  const owner = callerOf(asked, view);
  if (owner === null) return refuse.noSuchUser();
  const { file, name, size, image, sha256, realmQuotaBytes, personQuotaBytes } = asked.params;
  const bytes = view.counter("attachmentBytes") + size;
  if (realmQuotaBytes !== null && bytes > realmQuotaBytes) return refuse.realmUploadQuota();
  if (personQuotaBytes !== null && usageWithBots(view, owner) + size > personQuotaBytes)
    return refuse.personUploadQuota();
  const id = view.counter("attachment") + 1;
  const pathName = addressableName(name);
  const attachment: AttachmentRecord = {
    id,
    ownerId: owner.id,
    file,
    name: name === "" ? pathName : name,
    pathName,
    size,
    createdAt: view.now,
    image,
    unclaimedSince: view.now,
    sha256,
  };
  const url = uploadsPath + pathIdOf(view.realm.id, attachment);
  return done({ url, uri: url, filename: attachment.name }, [
    effects.count("attachment", id),
    effects.count("attachmentBytes", bytes),
    effects.put("uploadUsage", owner.id, { bytes: usageOf(view, owner.id) + size }),
    effects.put("attachments", id, attachment),
    effects.put("attachmentFiles", file, { id }),
    effects.put("userAttachments", [owner.id, id], {}),
    expiryOf(attachment, view.now),
    attachmentEvent("add", attachment, bytes),
  ]);
}

/** Bots share the quota of their owner: somebody may have many. */
function usageWithBots(view: View, uploader: UserRecord): number {
  const personId = uploader.botOwnerId ?? uploader.id;
  const bots = [...view.bots.ofOwner(personId)];
  return [personId, ...bots].reduce((sum, id) => sum + usageOf(view, id), 0);
}

/** DELETE /attachments/{id}: the owner's alone to do. Messages keep their links as text; what the rows of the links are goes apart. */
export function removeAttachment(_context: unknown, asked: Command<"attachment.remove">, view: View): Outcome {
  const attachment = view.row("attachments", asked.params.attachmentId);
  if (attachment === undefined || attachment.ownerId !== asked.callerId) return refuse.badRequest("Invalid attachment");
  return done({}, [...removeFile(view, attachment), ...recountAttachments([attachment.id])]);
}
