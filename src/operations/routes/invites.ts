/** Invitations (spec 4.14; public API: /invites). The pages behind their links are in src/edge/pages/join.ts. */
import { type Command, command, type NoFields, type ReplyOf } from "../../../actors/protocol/decision.ts";
import { kindOf, mayManageInvitation, validInvitations } from "../../../domain/invites.ts";
import type { View } from "../../../domain/view.ts";
import type { ParamsOf } from "../../../schemas/endpoint.ts";
import { refuse } from "../../../schemas/errors.ts";
import { fold } from "../../../schemas/fold.ts";
import {
  createInviteLink,
  editInviteLink,
  getInvites,
  type InvitationRecord,
  type Invite,
  resendInvite,
  revokeInvite,
  revokeInviteLink,
  sendInvites,
} from "../../../schemas/invites.ts";
import { limits } from "../../../schemas/limits.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { Realm } from "../../runtime/realm.ts";
import { ok, type Result } from "../../runtime/results.ts";
import { bind, bindProjected, type Call, requireCaller } from "../calls.ts";
import { hashApiKey } from "../identity/authentication.ts";
import { newSecret } from "../identity/secrets.ts";
import { joinLink } from "../links.ts";
import { originOf } from "../site.ts";

/**
 * Valid invitations that the caller may manage.
 * @param linkOf returns the URL for a key
 */
function managedInvites(view: View, caller: UserRecord, linkOf: (key: string) => string): Invite[] {
  return validInvitations(view)
    .filter((invitation) => mayManageInvitation(caller, invitation))
    .map((invitation) => ({ ...commonFields(invitation), ...specificFields(view, invitation, linkOf) }));
}

function commonFields(invitation: InvitationRecord) {
  const { id, inviterId, createdAt, expiresAt, role, notifiesInviter } = invitation;
  return {
    id,
    invited_by_user_id: inviterId,
    invited: seconds(createdAt),
    expiry_date: expiresAt === null ? null : seconds(expiresAt),
    invited_as: role,
    is_multiuse: kindOf(invitation) === "link",
    notify_referrer_on_join: notifiesInviter,
  };
}

function specificFields(view: View, invitation: InvitationRecord, linkOf: (key: string) => string) {
  if (kindOf(invitation) === "mail") return { email: invitation.email };
  return { link_url: linkOf(view.row("invitationLinks", invitation.id)?.key ?? "") };
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}

export interface InviteRouteTools {
  /** INVITATION_LINK_VALIDITY_MINUTES (spec 4.14, D6). */
  readonly validityMinutes: number;
  /** The site of links in emails. It is never the Host header of the user who causes the email to another user. */
  readonly siteOf: (realm: Realm) => string;
  /** Whether there is a mail server; otherwise emails are files (D276). */
  readonly sendsEmail: boolean;
}

export function inviteRoutes({ validityMinutes, siteOf, sendsEmail }: InviteRouteTools) {
  const withDelivery = (_call: unknown, sent: Result<NoFields>) =>
    sent.kind === "ok" ? ok({ server_sends_email: sendsEmail }) : sent;
  return [
    bindProjected(
      createInviteLink,
      (call) => {
        if (originOf(call.siteUrl) === null) return refuse.badRequest("Invalid host");
        const key = newSecret();
        const params = { ...offerOf(call.params, validityMinutes), key, keyHash: hashApiKey(key) };
        return call.realm.dispatcher.ask(
          command({ actor: "realm" }, "invitation.create", params, requireCaller(call).id),
          call.idempotencyKey,
        );
      },
      linkOf,
    ),

    bindProjected(
      sendInvites,
      (call) => {
        if (originOf(call.siteUrl) === null) return refuse.badRequest("Invalid host");
        const emails = addressesIn(call.params.invitee_emails);
        if (emails.length === 0) return refuse.badRequest("You must specify at least one email address.");
        const most = limits.invitation_addresses_per_request_max;
        if (emails.length > most) return refuse.badRequest(`Too many addresses in one request (maximum ${most})`);
        const mails = emails.map((email) => ({ email, ...newLink(siteOf(call.realm)) }));
        const notifiesInviter = call.params.notify_referrer_on_join;
        const params = { ...offerOf(call.params, validityMinutes), notifiesInviter, mails };
        return call.realm.dispatcher.ask(
          command({ actor: "realm" }, "invitations.send", params, requireCaller(call).id),
          call.idempotencyKey,
        );
      },
      withDelivery,
    ),

    bind(getInvites, (call) => {
      const site = originOf(call.siteUrl) ?? "";
      return ok({ invites: managedInvites(call.realm.view, requireCaller(call), (key) => joinLink(site, key)) });
    }),

    bind(revokeInvite, (call) => revoke(call, false)),

    bind(revokeInviteLink, (call) => revoke(call, true)),

    bind(editInviteLink, (call) => {
      const to = { actor: "invitation", id: call.params.invite_id } as const;
      return call.realm.dispatcher.ask(
        command(to, "invitation.edit", changeOf(call.params), requireCaller(call).id),
        call.idempotencyKey,
      );
    }),

    bindProjected(
      resendInvite,
      (call) => {
        if (originOf(call.siteUrl) === null) return refuse.badRequest("Invalid host");
        const to = { actor: "invitation", id: call.params.invite_id } as const;
        return call.realm.dispatcher.ask(
          command(to, "invitation.resend", newLink(siteOf(call.realm)), requireCaller(call).id),
          call.idempotencyKey,
        );
      },
      withDelivery,
    ),
  ];
}

/** The Idempotency-Key stores only the id: a repeated request gets the link of the first one, as long as it exists. */
function linkOf({ realm, siteUrl }: Call, made: Result<ReplyOf<"invitation.create">>) {
  if (made.kind !== "ok") return made;
  const link = realm.view.row("invitationLinks", made.answer.id);
  return link === undefined
    ? refuse.badRequest("No such invitation")
    : ok({ invite_link: joinLink(originOf(siteUrl) ?? "", link.key) });
}

function revoke(call: Call<{ readonly invite_id: number }>, isLink: boolean) {
  const to = { actor: "invitation", id: call.params.invite_id } as const;
  return call.realm.dispatcher.ask(
    command(to, "invitation.revoke", { isLink }, requireCaller(call).id),
    call.idempotencyKey,
  );
}

function newLink(site: string) {
  const key = newSecret();
  return { keyHash: hashApiKey(key), link: joinLink(site, key) };
}

function offerOf(params: ParamsOf<typeof createInviteLink>, validityMinutes: number) {
  const { invite_expires_in_minutes: minutes = validityMinutes, welcome_message_custom_text: text } = params;
  return {
    minutes,
    role: params.invite_as,
    channelIds: params.stream_ids,
    groupIds: params.group_ids,
    includesDefaults: params.include_realm_default_subscriptions,
    welcomeText: text === undefined || text === "null" ? null : text,
  };
}

function changeOf(params: ParamsOf<typeof editInviteLink>): Command<"invitation.edit">["params"] {
  const { invite_expires_in_minutes: minutes, welcome_message_custom_text: text } = params;
  return {
    expiry: minutes === undefined ? null : { minutes },
    role: params.invite_as ?? null,
    channelIds: params.stream_ids ?? null,
    groupIds: params.group_ids ?? null,
    includesDefaults: params.include_realm_default_subscriptions ?? null,
    welcome: text === undefined ? null : { text: text === "null" ? null : text },
  };
}

/** Addresses separated by commas and line breaks, without duplicates; `Name <address>` counts as its address. */
function addressesIn(text: string): string[] {
  const addresses = new Map<string, string>();
  for (const part of text.split(/[,\r\n]/)) {
    const email = (/<([^<>]*)>\s*$/.exec(part)?.[1] ?? part).trim();
    if (email !== "" && !addresses.has(fold(email))) addresses.set(fold(email), email);
  }
  return [...addresses.values()];
}
