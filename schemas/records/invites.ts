/** Durable shapes of invitations (spec 3, 4.14). The rules of `schemas/records.ts` hold. */
import type { Role } from "../types.ts";

export const invitationStates = ["valid", "expired", "revoked", "used"] as const;
export type InvitationState = (typeof invitationStates)[number];

/** A reusable link, or an invitation of one address. Ended ones stay for a while, so that their links can say what became of them. */
export interface InvitationRecord {
  readonly id: number;
  /** The machine's state: see actors/invitation. */
  readonly state: InvitationState;
  /** "" is a reusable link. */
  readonly email: string;
  readonly inviterId: number;
  readonly createdAt: number;
  /** null: never. */
  readonly expiresAt: number | null;
  readonly role: Role;
  readonly channelIds: readonly number[];
  readonly groupIds: readonly number[];
  readonly includesDefaults: boolean;
  readonly notifiesInviter: boolean;
  /** null: the organization's; "": none. */
  readonly welcomeText: string | null;
  /** SHA-256 of the keys in its links, oldest first: more than one where a mail was sent again (S2). */
  readonly keyHashes: readonly string[];
  /** The sequence of its expiry's timer. null: it never expires, has ended, or is of an older program. */
  readonly timer: number | null;
}

/** The key of a reusable link, which is shown again in lists: recoverable by nature, kept apart (S2). */
export interface InvitationLinkRecord {
  readonly key: string;
}
