/** Rules of custom emoji (public API: upload-custom-emoji, deactivate-custom-emoji), and how clients see them. */

import type { RealmEmojiRecord } from "../schemas/emoji.ts";
import { type Refusal, refuse } from "../schemas/errors.ts";
import { picturesPath } from "../schemas/files.ts";
import { limits } from "../schemas/limits.ts";
import type { UserRecord } from "../schemas/users.ts";
import { personOf } from "./bots.ts";
import { isEmojiName } from "./emoji/emoji-table.ts";
import { hasRealmPermission, isAdministrator } from "./permissions.ts";
import type { View } from "./view.ts";

/** The stored form of a name: spaces become underscores, upper case becomes lower case (OpenAPI, emoji_name). */
export function emojiName(given: string): string {
  return given.trim().replaceAll(" ", "_").toLowerCase();
}

/** Rules that concern only the name. */
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
 * Why the user may not add an emoji with this name now, or null. Checked before the picture is processed, and again in
 * the turn, which decides.
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
  return checkEmojiLeft(view, author);
}

/** Deactivated emoji count (S3), or one account could add and delete until the organization has no room. */
function checkEmojiLeft(view: View, author: UserRecord): Refusal | null {
  const all = [...view.realmEmoji.all()];
  if (all.length >= limits.emoji_per_realm_max) return refuse.badRequest("Too many custom emoji");
  const person = personOf(view, author);
  if (isAdministrator(author) || isAdministrator(person)) return null;
  const ids = new Set([person.id, ...view.bots.ofOwner(person.id)]);
  const most = limits.emoji_per_person_max;
  return all.filter(({ authorId }) => ids.has(authorId)).length < most
    ? null
    : refuse.badRequest(`You have added too many custom emoji (maximum ${most}).`);
}

/**
 * The author and administrators may remove it.
 * @param caller null for the server itself
 */
export function objectionToRemoval(caller: UserRecord | null, emoji: RealmEmojiRecord): Refusal | null {
  const may = caller === null || isAdministrator(caller) || caller.id === emoji.authorId;
  return may ? null : refuse.badRequest("Must be an organization administrator or emoji author");
}

/** URL of a custom emoji's picture, relative to the organization's address. */
export function emojiUrl(view: View, file: string): string {
  return `${picturesPath}${view.realm.id}/emoji/images/${file}`;
}
