/**
 * A user's uploaded files (public API: upload-file, remove-attachment). The file is already on disk; this command
 * claims it with a row. Until a message links to it, only its owner can see it and it expires after a while.
 */

import { addressableName } from "../../domain/attachments.ts";
import type { View } from "../../domain/view.ts";
import type { AttachmentRecord } from "../../schemas/attachments.ts";
import { refuse } from "../../schemas/errors.ts";
import { pathIdOf, uploadsPath } from "../../schemas/files.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { done, effects, forUser, type Outcome, type Params } from "../protocol/decision.ts";
import {
  attachmentEvent,
  chargeOf,
  expiryOf,
  recheckAttachments,
  removeFile,
  usageOf,
} from "../rules/attachment-events.ts";

/** POST /user_uploads. */
export function addAttachment(
  owner: UserRecord,
  { file, name, size, image, sha256, realmQuotaBytes, personQuotaBytes }: Params<"attachment.add">,
  view: View,
): Outcome {
  const bytes = view.counter("attachmentBytes") + size;
  if (realmQuotaBytes !== null && bytes > realmQuotaBytes) return refuse.realmUploadQuota();
  if (personQuotaBytes !== null && usageWithBots(view, owner) + chargeOf(size) > personQuotaBytes)
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
    effects.setCounter("attachment", id),
    effects.setCounter("attachmentBytes", bytes),
    effects.put("uploadUsage", owner.id, { bytes: usageOf(view, owner.id) + chargeOf(size) }),
    effects.put("attachments", id, attachment),
    effects.put("attachmentFiles", file, { id }),
    effects.put("userAttachments", [owner.id, id], {}),
    expiryOf(attachment, view.now),
    attachmentEvent("add", attachment, bytes),
  ]);
}

/** Bots share their owner's quota, because a user may own many bots. */
function usageWithBots(view: View, uploader: UserRecord): number {
  const personId = uploader.botOwnerId ?? uploader.id;
  const bots = [...view.bots.ofOwner(personId)];
  return [personId, ...bots].reduce((sum, id) => sum + usageOf(view, id), 0);
}

/**
 * DELETE /attachments/{id}, only by the owner. Messages keep their links as text; the rows of the links are removed
 * afterwards.
 */
export function removeAttachment(owner: UserRecord, params: Params<"attachment.remove">, view: View): Outcome {
  const attachment = view.row("attachments", params.attachmentId);
  if (attachment === undefined || attachment.ownerId !== owner.id) return refuse.badRequest("Invalid attachment");
  return done({}, [...removeFile(view, attachment), ...recheckAttachments([attachment.id])]);
}

export const attachmentsDecisions = {
  "attachment.add": forUser(addAttachment),
  "attachment.remove": forUser(removeAttachment),
} as const;
