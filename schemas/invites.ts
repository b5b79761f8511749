/** Invitations: reusable links and invited addresses (spec 4.14; public API: /invites, /invites/multiuse). */
import { type Static, Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { limits } from "./limits.ts";
import { flag, Id, nullable, roles } from "./types.ts";

/** What both kinds are made with. */
const offer = {
  /** null: never. Left out: as the server's configuration says. */
  invite_expires_in_minutes: Type.Optional(
    nullable(Type.Integer({ minimum: 1, maximum: limits.invitation_minutes_max })),
  ),
  invite_as: Type.Enum(Object.values(roles), { default: roles.member }),
  group_ids: Type.Array(Id, { maxItems: limits.invitation_groups_max, default: [] }),
  include_realm_default_subscriptions: flag(false),
  /** Raw text; `null` is null, not a greeting. */
  welcome_message_custom_text: Type.Optional(Type.String({ maxLength: limits.welcome_message_code_points_max })),
};

const channelIds = Type.Array(Id, { maxItems: limits.invitation_channels_max, default: [] });

export const Invite = Type.Object({
  id: Id,
  invited_by_user_id: Id,
  invited: Type.Integer(),
  expiry_date: nullable(Type.Integer()),
  invited_as: Type.Integer(),
  is_multiuse: Type.Boolean(),
  notify_referrer_on_join: Type.Boolean(),
  /** Of invited addresses only. */
  email: Type.Optional(Type.String()),
  /** Of reusable links only. */
  link_url: Type.Optional(Type.String()),
});
export type Invite = Static<typeof Invite>;

export const createInviteLink = defineEndpoint({
  operationId: "create-invite-link",
  method: "POST",
  path: "/invites/multiuse",
  authentication: "user",
  effectiveness: "durable",
  role: "human-member",
  summary: "Makes a reusable invitation link (spec 4.14); whoever is in `create_multiuse_invite_group`.",
  params: { ...offer, stream_ids: channelIds },
  ok: { invite_link: Type.String() },
  errors: ["UNAUTHORIZED_PRINCIPAL", "INVITATION_FAILED"],
});

export const sendInvites = defineEndpoint({
  operationId: "send-invites",
  method: "POST",
  path: "/invites",
  authentication: "user",
  effectiveness: "durable",
  role: "human-member",
  summary: "Invites addresses by mail, all of them or none; whoever is in `can_invite_users_group`.",
  params: {
    invitee_emails: Type.String({ maxLength: limits.invitation_addresses_code_points_max }),
    ...offer,
    stream_ids: channelIds,
    notify_referrer_on_join: flag(true),
  },
  ok: {},
  errors: ["UNAUTHORIZED_PRINCIPAL", "INVITATION_FAILED"],
});

export const getInvites = defineEndpoint({
  operationId: "get-invites",
  method: "GET",
  path: "/invites",
  authentication: "user",
  effectiveness: "read",
  role: "human-member",
  summary: "The invitations that are good and that the caller may manage.",
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
  summary: "Takes back the invitation of an address; who made it, and administrators.",
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
  summary: "Takes back a reusable link; who made it, and administrators.",
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
  summary: "Changes what a reusable link gives and how long it is good; who made it, and administrators.",
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
  summary: "Sends the mail of an invitation again; who made it, and administrators.",
  params: { invite_id: Id },
  ok: {},
  errors: ["INVITATION_FAILED"],
});
