/**
 * The type of the one emoji that is neither Unicode nor the realm's has two names (D22): the specification's, which is stored, and
 * the public API's. Clients of the public API know only the latter; the mobile app throws on any other.
 */
import { reactionTypes } from "../../../schemas/status.ts";

const publicExtraType = "zulip_extra_emoji";

export type ExtraType = typeof reactionTypes.extra | typeof publicExtraType;

/** @param client its name (D35) */
export function extraTypeFor(client: string): ExtraType {
  return client.startsWith("Zulip") || client === "website" ? publicExtraType : reactionTypes.extra;
}

/** The type as it is stored, whichever name was given. */
export function storedType(given: string): string {
  return given === publicExtraType ? reactionTypes.extra : given;
}

/** The type as a client knows it. */
export function shownType(stored: string, extraType: ExtraType): string {
  return stored === reactionTypes.extra ? extraType : stored;
}
