/** Rules of custom emoji (public API: upload-custom-emoji, deactivate-custom-emoji), and how they are shown to clients. */
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { picturesPath } from "../../../schemas/files.ts";
import { limits } from "../../../schemas/limits.ts";
import type { RealmEmojiRecord, UserRecord } from "../../../schemas/records.ts";
import { hasRealmPermission, isAdministrator } from "../permissions.ts";
import type { View } from "../view.ts";
import { isEmojiName } from "./emoji-table.ts";

/** The name as it is stored: blanks and underscores are the same, and so are upper and lower case (OpenAPI, emoji_name). */
export function emojiName(given: string): string {
  return given.trim().replaceAll(" ", "_").toLowerCase();
}

/** Rules of the name alone. */
function checkEmojiName(name: string): Refusal | null {
  if (name === "") return refuse.badRequest("Emoji name is missing");
  if (!/^[0-9a-z.\-_]+$/.test(name)) {
    return refuse.badRequest(
      "Emoji names must contain only lowercase English letters, digits, spaces, dashes, underscores, and periods.",
    );
  }
  if (/[.\-_]$/.test(name)) {
    return refuse.badRequest("Emoji names must end with either an English letter or digit.");
  }
  if (name.length > limits.emoji_name_code_points_max) {
    return refuse.badRequest(`emoji_name is too long (limit: ${limits.emoji_name_code_points_max} characters)`);
  }
  return null;
}

/**
 * Why this person may not add an emoji of this name now; null: nothing speaks against it. Asked before the picture is looked at,
 * and again in the turn, where it counts.
 */
export function objectionToName(view: View, author: UserRecord, name: string): Refusal | null {
  const badName = checkEmojiName(name);
  if (badName !== null) return badName;
  if (!hasRealmPermission(view, author, "can_add_custom_emoji_group")) return refuse.insufficientPermission();
  if (view.realmEmoji.active(name) !== undefined) {
    return refuse.badRequest("A custom emoji with this name already exists.");
  }
  if (isEmojiName(name) && !isAdministrator(author)) {
    return refuse.badRequest("Only administrators can override default emoji.");
  }
  return [...view.realmEmoji.all()].length >= limits.emoji_per_realm_max
    ? refuse.badRequest("Too many custom emoji")
    : null;
}

/** Its author may, and administrators. @param caller null is the server itself */
export function objectionToRemoval(caller: UserRecord | null, emoji: RealmEmojiRecord): Refusal | null {
  const may = caller === null || isAdministrator(caller) || caller.id === emoji.authorId;
  return may ? null : refuse.badRequest("Must be an organization administrator or emoji author");
}

/** Where clients find a custom emoji's picture, relative to the organization's address. */
export function emojiUrl(view: View, file: string): string {
  return `${picturesPath}${view.realm.id}/emoji/images/${file}`;
}
