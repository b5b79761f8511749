/**
 * Resolves an emoji from name, code and namespace (spec 2.7; behaviour 2.12), for statuses and reactions. The realm's
 * own emoji take precedence over built-in ones of the same name.
 */
import { type Refusal, refuse } from "../schemas/errors.ts";
import { type ReactionType, reactionTypes } from "../schemas/event-values.ts";
import { EXTRA_EMOJI, emojiByCode, emojiByName } from "./emoji/emoji-table.ts";
import { storedType } from "./emoji/extra-type.ts";
import type { View } from "./view.ts";

export interface EmojiRequest {
  readonly name: string;
  /** null: the current emoji of this name. */
  readonly code: string | null;
  readonly reactionType: string | null;
}

/** The three are consistent: the name belongs to the code, and the code to the namespace. */
export interface EmojiChoice {
  readonly kind: "chosen";
  readonly name: string;
  readonly code: string;
  readonly reactionType: ReactionType;
}

export function chooseEmoji(view: View, request: EmojiRequest): EmojiChoice | Refusal {
  const { name } = request;
  let { code } = request;
  let reactionType: ReactionType | "unknown" | null =
    request.reactionType === null ? null : (storedType(request.reactionType) ?? "unknown");
  if (code === null || reactionType === null) {
    const known = emojiOfName(view, name);
    if (known === null) return refuse.badRequest(`Emoji '${name}' does not exist`);
    code ??= known.code;
    reactionType ??= known.reactionType;
  }
  if (reactionType === "unknown") return refuse.badRequest("Invalid emoji type.");
  return checkEmoji(view, { name, code, reactionType }) ?? { kind: "chosen", name, code, reactionType };
}

/**
 * The requested emoji, whether or not it can be chosen now; missing parts are looked up by name.
 * @returns its type and code as one string
 */
export function findEmoji(view: View, request: EmojiRequest): { readonly key: string } | Refusal {
  const known =
    request.code !== null && request.reactionType !== null
      ? { code: request.code, reactionType: request.reactionType }
      : emojiOfName(view, request.name);
  if (known === null) return refuse.badRequest(`Emoji '${request.name}' does not exist`);
  const given = request.reactionType ?? known.reactionType;
  // An unknown type names no reaction.
  const reactionType = storedType(given) ?? given;
  return { key: `${reactionType}:${request.code ?? known.code}` };
}

function emojiOfName(view: View, name: string): { readonly code: string; readonly reactionType: ReactionType } | null {
  const own = view.realmEmoji.active(name);
  if (own !== undefined) return { code: String(own.id), reactionType: reactionTypes.realm };
  if (name === EXTRA_EMOJI.name) return { code: EXTRA_EMOJI.code, reactionType: reactionTypes.extra };
  const unicode = emojiByName(name);
  return unicode === null ? null : { code: unicode.code, reactionType: reactionTypes.unicode };
}

interface Emoji {
  readonly name: string;
  readonly code: string;
  readonly reactionType: ReactionType;
}

function checkEmoji(view: View, emoji: Emoji): Refusal | null {
  switch (emoji.reactionType) {
    case reactionTypes.realm:
      return checkRealmEmoji(view, emoji);
    case reactionTypes.extra:
      if (emoji.code !== EXTRA_EMOJI.code) return refuse.badRequest("Invalid emoji code.");
      return emoji.name === EXTRA_EMOJI.name ? null : refuse.badRequest("Invalid emoji name.");
    case reactionTypes.unicode:
      if (emojiByCode(emoji.code) === null) return refuse.badRequest("Invalid emoji code.");
      return emojiByName(emoji.name)?.code === emoji.code ? null : refuse.badRequest("Invalid emoji name.");
  }
}

function checkRealmEmoji(view: View, { name, code }: Emoji): Refusal | null {
  const own = view.realmEmoji.get(Number(code));
  // "1", but not "01" or "1.0": the code is the id as text.
  if (own === undefined || String(own.id) !== code) return refuse.badRequest("Invalid custom emoji.");
  if (own.name !== name) return refuse.badRequest("Invalid custom emoji name.");
  return own.isActive ? null : refuse.badRequest("This custom emoji has been deactivated.");
}
