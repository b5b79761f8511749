/** Invitations (spec 4.14; public API: /invites). What their links lead to is in src/http/join.ts. */
import { type Command, command } from "../../../actors/commands.ts";
import type { ParamsOf } from "../../../schemas/endpoint.ts";
import { refuse } from "../../../schemas/errors.ts";
import { fold } from "../../../schemas/fold.ts";
import {
  createInviteLink,
  editInviteLink,
  getInvites,
  resendInvite,
  revokeInvite,
  revokeInviteLink,
  sendInvites,
} from "../../../schemas/invites.ts";
import { limits } from "../../../schemas/limits.ts";
import { managedInvites } from "../../queries/invites.ts";
import { bind, type Call, callerOf, type Handled } from "../../runtime/calls.ts";
import { ok } from "../../runtime/entry.ts";
import type { Realm } from "../../runtime/realm.ts";
import { hashApiKey } from "../authentication.ts";
import { joinLink } from "../join.ts";
import { newApiKey } from "../secrets.ts";
import { originOf } from "../site.ts";

export interface InviteRouteTools {
  /** INVITATION_LINK_VALIDITY_MINUTES (spec 4.14, D6). */
  readonly validityMinutes: number;
  /** Where links in mails lead: never the Host header of whoever causes a mail to somebody else. */
  readonly siteOf: (realm: Realm) => string;
}

export function inviteRoutes({ validityMinutes, siteOf }: InviteRouteTools) {
  return [
    bind(
      createInviteLink,
      (call) => {
        if (originOf(call.siteUrl) === null) return refuse.badRequest("Invalid host");
        const key = newApiKey();
        const params = { ...offerOf(call.params, validityMinutes), key, keyHash: hashApiKey(key) };
        const asked = command({ actor: "realm" }, "invitation.create", params, callerOf(call).id);
        return call.realm.dispatcher.ask(asked, call.claim);
      },
      linkOf,
    ),

    bind(sendInvites, (call) => {
      if (originOf(call.siteUrl) === null) return refuse.badRequest("Invalid host");
      const emails = addressesIn(call.params.invitee_emails);
      if (emails.length === 0) return refuse.badRequest("You must specify at least one email address.");
      const most = limits.invitation_addresses_per_request_max;
      if (emails.length > most) return refuse.badRequest(`Too many addresses in one request (maximum ${most})`);
      const mails = emails.map((email) => ({ email, ...newLink(siteOf(call.realm)) }));
      const notifiesInviter = call.params.notify_referrer_on_join;
      const params = { ...offerOf(call.params, validityMinutes), notifiesInviter, mails };
      const asked = command({ actor: "realm" }, "invitations.send", params, callerOf(call).id);
      return call.realm.dispatcher.ask(asked, call.claim);
    }),

    bind(getInvites, (call) => {
      const site = originOf(call.siteUrl) ?? "";
      return ok({ invites: managedInvites(call.realm.view, callerOf(call), (key) => joinLink(site, key)) });
    }),

    bind(revokeInvite, (call) => revoke(call, false)),

    bind(revokeInviteLink, (call) => revoke(call, true)),

    bind(editInviteLink, (call) => {
      const to = { actor: "invitation", id: call.params.invite_id } as const;
      return call.realm.dispatcher.ask(
        command(to, "invitation.edit", changeOf(call.params), callerOf(call).id),
        call.claim,
      );
    }),

    bind(resendInvite, (call) => {
      if (originOf(call.siteUrl) === null) return refuse.badRequest("Invalid host");
      const to = { actor: "invitation", id: call.params.invite_id } as const;
      const asked = command(to, "invitation.resend", newLink(siteOf(call.realm)), callerOf(call).id);
      return call.realm.dispatcher.ask(asked, call.claim);
    }),
  ];
}

/** What is kept under an Idempotency-Key is the id: a repeat gets the link that the first request made, as long as there is one. */
function linkOf({ realm, siteUrl }: Call, made: Handled): Handled {
  if (made.kind !== "ok") return made;
  const link = realm.view.row("invitationLinks", Number(made.answer["id"]));
  return link === undefined
    ? refuse.badRequest("No such invitation")
    : ok({ invite_link: joinLink(originOf(siteUrl) ?? "", link.key) });
}

function revoke(call: Call<{ readonly invite_id: number }>, isLink: boolean) {
  const to = { actor: "invitation", id: call.params.invite_id } as const;
  return call.realm.dispatcher.ask(command(to, "invitation.revoke", { isLink }, callerOf(call).id), call.claim);
}

function newLink(site: string) {
  const key = newApiKey();
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

/** Separated by commas and line breaks; of `Name <address>`, the address; each once. */
function addressesIn(text: string): string[] {
  const addresses = new Map<string, string>();
  for (const part of text.split(/[,\r\n]/)) {
    const email = (/<([^<>]*)>\s*$/.exec(part)?.[1] ?? part).trim();
    if (email !== "" && !addresses.has(fold(email))) addresses.set(fold(email), email);
  }
  return [...addresses.values()];
}
