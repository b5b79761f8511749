/** Uploaded files as their owner sees them, and whether somebody may see one, however many messages link to it. */
import { limits } from "../../schemas/limits.ts";
import type { AttachmentRecord, UserRecord } from "../../schemas/records.ts";
import { attachmentBody, glanceAt } from "../domain/attachments.ts";
import { realmSetting } from "../domain/realm-settings.ts";
import { spectator } from "../domain/spectator.ts";
import type { View } from "../domain/view.ts";

/** GET /attachments: the newest files of a person, oldest first. In slices: many messages may link to each of them. */
export async function attachmentList(view: View, owner: UserRecord) {
  const newest = { start: [owner.id, Number.MAX_SAFE_INTEGER], end: [owner.id], reverse: true };
  const keys = view.keys("userAttachments", { ...newest, limit: limits.attachments_listed_max });
  const attachments: ReturnType<typeof attachmentBody>[] = [];
  let looks = 0;
  for (const [, id] of keys.reverse()) {
    const row = view.row("attachments", id);
    if (row === undefined) continue;
    const body = attachmentBody(view, owner, row);
    attachments.push(body);
    looks += 1 + body.messages.length;
    if (looks < limits.attachment_messages_per_pass_max) continue;
    looks = 0;
    await letOthersIn();
  }
  return { attachments, upload_space_used: view.counter("attachmentBytes") };
}

/**
 * Whether somebody may see a file now: in looks of bounded size, between which others get their turn.
 * @param person null: nobody who is logged in
 */
export async function maySee(view: View, person: UserRecord | null, attachment: AttachmentRecord): Promise<boolean> {
  if (person === null && !realmSetting(view, "enable_spectator_access")) return false;
  const reader = person ?? spectator;
  const limit = limits.attachment_messages_per_pass_max;
  let glance = glanceAt(view, reader, attachment, limit);
  while (glance.before !== null) {
    await letOthersIn();
    glance = glanceAt(view, reader, attachment, limit, glance.before);
  }
  return glance.isVisible;
}

function letOthersIn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
