/**
 * Invitations: reusable links, and invitations for single addresses (spec 4.14; public API: /invites,
 * /invites/multiuse).
 */

import { type Static, Type } from "typebox";
import { defineArea, defineCommands, defineTable, type Empty } from "./area.ts";
import { defineEndpoint } from "./endpoint.ts";
import { sentAsStored } from "./event.ts";
import type { ChannelId, GroupId } from "./ids.ts";
import { commonLimits } from "./limits/common.ts";
import { OtherId, OtherText, UserId } from "./person-marks.ts";
import { flag, Id, nullable, type Role, roles } from "./types.ts";

const limits = {
  /** Including ended invitations that are still remembered. */
  invitations_per_realm_max: 5000,
  /** Those of one inviter who is not an administrator; as above. */
  invitations_per_user_max: 1000,
  /** Links created, addresses invited and emails resent. */
  invitations_per_user_per_day_max: 500,
  invitation_addresses_per_request_max: 100,
  invitation_addresses_code_points_max: 30_000,
  invitation_channels_max: 100,
  invitation_groups_max: 100,
  /** About a hundred years; use null for no limit. */
  invitation_minutes_max: 52_560_000,
  invitation_links_per_address_max: 5,
  /** How long a link that confirms an address is valid (D275), */
  address_confirmation_ms: 24 * 60 * 60 * 1000,
  /** and how many of them an organization has. */
  address_confirmations_max: 5000,
  /** Emails to one address, whichever links they are for. */
  address_confirmations_per_hour_max: 2,
  address_confirmations_per_day_max: 5,
  /** A request so soon after another one is the same: the button was pressed twice. */
  address_confirmation_repeat_ms: 60 * 1000,
  /** How long a link still explains that it was used, revoked or has expired. */
  invitation_kept_ms: 7 * 24 * 60 * 60 * 1000,
} as const;

/** Parameters of both kinds. */
const offer = {
  /** null: never expires. Absent: the default in the server's configuration. */
  invite_expires_in_minutes: Type.Optional(
    nullable(Type.Integer({ minimum: 1, maximum: limits.invitation_minutes_max })),
  ),
  invite_as: Type.Enum(Object.values(roles), { default: roles.member }),
  group_ids: Type.Array(Id, { maxItems: limits.invitation_groups_max, default: [] }),
  include_realm_default_subscriptions: flag(false),
  /** Raw text; `null` means null, not a message. */
  welcome_message_custom_text: Type.Optional(Type.String({ maxLength: commonLimits.welcome_message_code_points_max })),
};

const channelIds = Type.Array(Id, { maxItems: limits.invitation_channels_max, default: [] });

export const Invite = Type.Object(
  {
    id: OtherId,
    invited_by_user_id: UserId,
    invited: Type.Integer(),
    expiry_date: nullable(Type.Integer()),
    invited_as: Type.Enum(Object.values(roles)),
    is_multiuse: Type.Boolean(),
    notify_referrer_on_join: Type.Boolean(),
    /** Only invitations for an address. */
    email: Type.Optional(OtherText),
    /** Only reusable links. */
    link_url: Type.Optional(OtherText),
  },
  { title: "Invite" },
);
export type Invite = Static<typeof Invite>;

export const createInviteLink = defineEndpoint({
  operationId: "create-invite-link",
  method: "POST",
  path: "/invites/multiuse",
  authentication: "user",
  effectiveness: "durable",
  role: "human-member",
  summary: "Creates a reusable invitation link (spec 4.14); only for members of `create_multiuse_invite_group`.",
  params: { ...offer, stream_ids: channelIds },
  ok: { invite_link: OtherText },
  errors: ["UNAUTHORIZED_PRINCIPAL", "INVITATION_FAILED"],
});

export const sendInvites = defineEndpoint({
  operationId: "send-invites",
  method: "POST",
  path: "/invites",
  authentication: "user",
  effectiveness: "durable",
  role: "human-member",
  summary: "Invites addresses by email, atomically; only for members of `can_invite_users_group`.",
  params: {
    invitee_emails: Type.String({ maxLength: limits.invitation_addresses_code_points_max }),
    ...offer,
    stream_ids: channelIds,
    notify_referrer_on_join: flag(true),
  },
  ok: { server_sends_email: Type.Boolean() },
  errors: ["UNAUTHORIZED_PRINCIPAL", "INVITATION_FAILED"],
});

export const getInvites = defineEndpoint({
  operationId: "get-invites",
  method: "GET",
  path: "/invites",
  authentication: "user",
  effectiveness: "read",
  role: "human-member",
  summary: "Returns the valid invitations that the caller may manage.",
  params: {},
  ok: { invites: Type.Array(Invite) },
  errors: [],
});

export const revokeInvite = defineEndpoint({
  operationId: "revoke-email-invite",
  method: "DELETE",
  path: "/invites/{invite_id}",
  authentication: "user",
  effectiveness: "durable",
  role: "human-member",
  summary: "Revokes an invitation for an address; only for its creator and administrators.",
  params: { invite_id: Id },
  ok: {},
  errors: [],
});

export const revokeInviteLink = defineEndpoint({
  operationId: "revoke-invite-link",
  method: "DELETE",
  path: "/invites/multiuse/{invite_id}",
  authentication: "user",
  effectiveness: "durable",
  role: "human-member",
  summary: "Revokes a reusable link; only for its creator and administrators.",
  params: { invite_id: Id },
  ok: {},
  errors: [],
});

export const editInviteLink = defineEndpoint({
  operationId: "edit-invite-link",
  method: "PATCH",
  path: "/invites/multiuse/{invite_id}",
  authentication: "user",
  effectiveness: "durable",
  role: "human-member",
  summary: "Changes what a reusable link grants and when it expires; only for its creator and administrators.",
  params: {
    invite_id: Id,
    invite_expires_in_minutes: offer.invite_expires_in_minutes,
    invite_as: Type.Optional(Type.Enum(Object.values(roles))),
    stream_ids: Type.Optional(Type.Array(Id, { maxItems: limits.invitation_channels_max })),
    group_ids: Type.Optional(Type.Array(Id, { maxItems: limits.invitation_groups_max })),
    include_realm_default_subscriptions: Type.Optional(Type.Boolean()),
    welcome_message_custom_text: offer.welcome_message_custom_text,
  },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL"],
});

export const resendInvite = defineEndpoint({
  operationId: "resend-email-invite",
  method: "POST",
  path: "/invites/{invite_id}/resend",
  authentication: "user",
  effectiveness: "durable",
  role: "human-member",
  summary: "Resends the email of an invitation; only for its creator and administrators.",
  params: { invite_id: Id },
  ok: { server_sends_email: Type.Boolean() },
  errors: ["INVITATION_FAILED"],
});

export const invitationStates = ["valid", "expired", "revoked", "used"] as const;

export type InvitationState = (typeof invitationStates)[number];

/**
 * A reusable link, or an invitation for one address. Ended invitations are kept for a while, so that their pages can
 * explain why.
 */
export interface InvitationRecord {
  readonly id: number;
  /** The machine's state (actors/invitation). */
  readonly state: InvitationState;
  /** "": a reusable link. */
  readonly email: string;
  readonly inviterId: UserId;
  readonly createdAt: number;
  /** null: never. */
  readonly expiresAt: number | null;
  readonly role: Role;
  readonly channelIds: readonly ChannelId[];
  readonly groupIds: readonly GroupId[];
  readonly includesDefaults: boolean;
  readonly notifiesInviter: boolean;
  /** null: the organization's default; "": no welcome message. */
  readonly welcomeText: string | null;
  /** SHA-256 of the keys in its links, oldest first; more than one if the email was resent (S2). */
  readonly keyHashes: readonly string[];
  /** Sequence number of its expiry timer. null: it never expires, has ended, or was written by an older version. */
  readonly timer: number | null;
}

/** An address that wants to join by a reusable link (D275). Keyed by the SHA-256 of the key in the email's link (S2). */
export interface AddressConfirmationRecord {
  readonly invitationId: number;
  readonly email: string;
  readonly createdAt: number;
}

/** The key of a reusable link. Lists show it again, so it is stored in recoverable form, in its own table (S2). */
export interface InvitationLinkRecord {
  readonly key: string;
}

/** The rights that an accepted invitation grants (spec 4.14). */
export interface InvitationOffer {
  /** null: it never expires. */
  readonly minutes: number | null;
  readonly role: Role;
  readonly channelIds: readonly ChannelId[];
  readonly groupIds: readonly GroupId[];
  readonly includesDefaults: boolean;
  /** null: the organization's default; "": no welcome message. */
  readonly welcomeText: string | null;
}

/** Changes to an invitation link; null keeps the value. `expiry.minutes` null: it never expires. */
export interface InvitationChange {
  readonly expiry: { readonly minutes: number | null } | null;
  readonly role: Role | null;
  readonly channelIds: readonly ChannelId[] | null;
  readonly groupIds: readonly GroupId[] | null;
  readonly includesDefaults: boolean | null;
  readonly welcome: { readonly text: string | null } | null;
}

/** The key generated for an emailed link; `link` is the complete URL. */
export interface InvitationMail {
  readonly email: string;
  readonly keyHash: string;
  readonly link: string;
}

/** Parameters of its commands, by type. */
export interface InvitesCommands {
  /**
   * `email`: the address as typed. An invitation for one address uses its own address instead, and one with a
   * `confirmation` (the hash of a key in `addressConfirmations`) the confirmed one.
   */
  "invitation.accept": {
    readonly email: string;
    readonly confirmation: string | null;
    readonly fullName: string;
    readonly passwordHash: string;
  };
  /** Replies the same whether an email is sent or not. */
  "invitation.confirm-address": InvitationMail;
  "address-confirmation.expire": { readonly email: string; readonly requestedAt: number; readonly keyHash: string };
  /** The kind that the caller addressed: email invitations and links have separate endpoints. */
  "invitation.revoke": { readonly isLink: boolean };
  "invitation.resend": { readonly keyHash: string; readonly link: string };
  "invitation.expire": Record<string, never>;
  "invitation.forget": Record<string, never>;
  "invitation.create": InvitationOffer & { readonly key: string; readonly keyHash: string };
  "invitations.send": InvitationOffer & {
    readonly notifiesInviter: boolean;
    readonly mails: readonly InvitationMail[];
  };
  "invitation.edit": InvitationChange;
}

/** Their replies, by type; other commands reply without fields. */
export interface InvitesReplies {
  readonly "invitation.accept": { readonly user_id: number };
  readonly "invitation.create": { readonly id: number };
}

export const invitesArea = defineArea({
  endpoints: [createInviteLink, sendInvites, getInvites, revokeInvite, revokeInviteLink, editInviteLink, resendInvite],
  commands: defineCommands<InvitesCommands, InvitesReplies>(),
  tables: {
    invitations: defineTable<number, InvitationRecord>({
      fields: [
        "id",
        "state",
        "email",
        "inviterId",
        "createdAt",
        "expiresAt",
        "role",
        "channelIds",
        "groupIds",
        "includesDefaults",
        "notifiesInviter",
        "welcomeText",
        "keyHashes",
        "timer",
      ],
    }),
    /** By the SHA-256 of the key in a link (S2). */
    invitationKeys: defineTable<string, { readonly id: number }>({
      fields: ["id"],
    }),
    invitationLinks: defineTable<number, InvitationLinkRecord>({
      fields: ["key"],
    }),
    invitationAddresses: defineTable<readonly [foldedEmail: string, id: number], Empty>({
      fields: [],
    }),
    addressConfirmations: defineTable<string, AddressConfirmationRecord>({
      fields: ["invitationId", "email", "createdAt"],
      dates: ["createdAt"],
    }),
    /** The same by address, for the limits: at most one a minute. */
    addressConfirmationRequests: defineTable<readonly [foldedEmail: string, requestedAt: number], Empty>({
      fields: [],
    }),
    /** Invitations that a user sent within a day, for the limit. */
    invitationSends: defineTable<readonly [userId: UserId, at: number, id: number], Empty>({
      fields: [],
    }),
  },
  events: {
    invites_changed: sentAsStored({ "": {} }),
  },
  counters: ["invitation"],
  limits,
});
