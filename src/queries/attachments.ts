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
  const limit = limits.attachment_messages_per_pass_max;
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const reader = readerNow(view, person);
    const glance = reader === null ? nothingSeen : glanceAt(view, reader, attachment, limit, before);
    if (glance.before === null) return glance.isVisible;
    before = glance.before;
    await letOthersIn();
  }
}

const nothingSeen = { isVisible: false, before: null };

/** Rights may change between two looks. null: nobody who may see anything. */
function readerNow(view: View, person: UserRecord | null): UserRecord | null {
  if (person === null) return realmSetting(view, "enable_spectator_access") ? spectator : null;
  const now = view.users.get(person.id);
  return now?.isActive === true ? now : null;
}

function letOthersIn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
