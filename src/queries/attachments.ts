/**
 * Uploaded files as their owner sees them, and whether a viewer may see a file regardless of how many messages link to
 * it.
 */

import { attachmentBody, checkVisibility } from "../../domain/attachments.ts";
import { realmSetting } from "../../domain/realm-settings.ts";
import { spectator } from "../../domain/spectator.ts";
import type { View } from "../../domain/view.ts";
import type { AttachmentRecord } from "../../schemas/attachments.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";

/**
 * GET /attachments: a user's newest files, oldest first. Works in slices, because many messages may link to each file.
 */
export async function attachmentList(view: View, owner: UserRecord) {
  const newest = { start: [owner.id, Number.MAX_SAFE_INTEGER], end: [owner.id], reverse: true };
  const keys = view.keys("userAttachments", { ...newest, limit: limits.attachments_listed_max });
  const attachments: ReturnType<typeof attachmentBody>[] = [];
  let examined = 0;
  for (const [, id] of keys.reverse()) {
    const row = view.row("attachments", id);
    if (row === undefined) continue;
    const body = attachmentBody(view, owner, row);
    attachments.push(body);
    examined += 1 + body.messages.length;
    if (examined < limits.attachment_messages_per_pass_max) continue;
    examined = 0;
    await yieldToOthers();
  }
  return { attachments, upload_space_used: view.counter("attachmentBytes") };
}

/**
 * Whether a viewer may see a file now. Examines its links in bounded slices and yields to other requests in between.
 * @param person null: not logged in
 */
export async function maySee(view: View, person: UserRecord | null, attachment: AttachmentRecord): Promise<boolean> {
  const limit = limits.attachment_messages_per_pass_max;
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const reader = readerNow(view, person);
    const check = reader === null ? notVisible : checkVisibility(view, reader, attachment, limit, before);
    if (check.before === null) return check.isVisible;
    before = check.before;
    await yieldToOthers();
  }
}

const notVisible = { isVisible: false, before: null };

/** Permissions may change between two slices. null: a viewer who may see nothing. */
function readerNow(view: View, person: UserRecord | null): UserRecord | null {
  if (person === null) return realmSetting(view, "enable_spectator_access") ? spectator : null;
  const now = view.users.get(person.id);
  return now?.isActive === true ? now : null;
}

function yieldToOthers(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
