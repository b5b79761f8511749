/**
 * The type of the one emoji that is neither Unicode nor the realm's has two names (D22): the specification's, which is stored, and
 * the public API's. Clients of the public API know only the latter; the mobile app throws on any other.
 */
import { publicExtraType, type ReactionType, reactionTypes } from "../../schemas/event-values.ts";

export type ExtraType = typeof reactionTypes.extra | typeof publicExtraType;

/** @param client the client's name (D35) */
export function extraTypeFor(client: string): ExtraType {
  return client.startsWith("Zulip") || client === "website" ? publicExtraType : reactionTypes.extra;
}

/** The stored type, for either name of the extra one; undefined: there is no such type. */
export function storedType(given: string): ReactionType | undefined {
  if (given === publicExtraType) return reactionTypes.extra;
  return Object.values(reactionTypes).find((type) => type === given);
}

/** The type that a client knows. */
export function shownType(stored: ReactionType | ExtraType, extraType: ExtraType): ReactionType | ExtraType {
  return stored === reactionTypes.extra ? extraType : stored;
}
