/**
 * An invitation (spec 3): a reusable link, or an invitation for one email address. The realm actor writes its row with
 * the state `valid`. A lapsed invitation is still valid in its row, but grants nothing (lifecycle.ts).
 *
 * valid --time passes, or the inviter loses the permission--> lapsed lapsed --expire, by a durable timer (M8)-->
 * expired valid, lapsed --revoke--> revoked       by its creator, by an administrator, or because the inviter is
 * deactivated valid --accept--> valid                 a reusable link: one more account valid --accept--> used
 * an invitation for one address: only once valid --confirm-address--> valid        a reusable link: an email to
 * somebody who wants to join (D275) valid --edit--> valid                   a reusable link: new channels, role or
 * expiry valid --resend--> valid                 another email with its own key expired, revoked, used --forget-->
 * unknown    later, by a durable timer: the link looks as if it never existed
 *
 * Confirming an address before it joins by a reusable link (D275): anybody may have the link, and the organization
 * takes only people with an address in its domains, so they must show that they read the emails to it.
 */

import { addressConfirmation, confirmsAddresses, givenPlaces, kindOf } from "../../domain/invites.ts";
import { isReservedAddress } from "../../domain/people.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import type { InvitationRecord } from "../../schemas/invites.ts";
import { limits } from "../../schemas/limits.ts";
import { type Command, command, done, effects, forEither, forUser, type Outcome } from "../protocol/decision.ts";
import { decide, ignore, lead, reject, rejectUnhandled, setupMachine } from "../protocol/machine-setup.ts";
import { newAccount, refuseAddress } from "../realm/users.ts";
import { endEffects, invitationMail } from "../rules/invitations.ts";
import { mailEffects } from "../rules/mail.ts";
import { botDirectMessage, silentMention } from "../rules/notification-bot.ts";
import { edit } from "./edits.ts";
import {
  expire,
  forget,
  type KnownInvitation,
  noSuchInvitation,
  resend,
  revoke,
  revokeAgain,
  revokeEnded,
} from "./lifecycle.ts";

const hourMs = 60 * 60 * 1000;

/** Nothing is sent to an address that has an account, or was sent enough. The reply does not show it. */
function confirmAddress(
  { row }: KnownInvitation,
  request: Command<"invitation.confirm-address">,
  view: View,
): Outcome<KnownInvitation> {
  if (kindOf(row) !== "link") return refuse.notFound();
  const { email, keyHash, link } = request.params;
  const refused = refuseAddress(view, email);
  if (refused !== null) return refused;
  if (isReservedAddress(email) || view.users.byEmail(email) !== undefined) return done({}, []);
  if (isLimited(view, email)) return done({}, []);
  const most = limits.address_confirmations_max;
  if (view.keys("addressConfirmations", { limit: most }).length >= most) {
    return refuse.badRequest("Too many people are joining at the moment. Try again tomorrow.");
  }
  const inviter = view.users.get(row.inviterId);
  const until = view.now + limits.address_confirmation_ms;
  const expiresAt = row.expiresAt === null ? until : Math.min(until, row.expiresAt);
  const expiry = { email: fold(email), requestedAt: view.now, keyHash };
  return done({}, [
    effects.put("addressConfirmations", keyHash, { invitationId: row.id, email, createdAt: view.now }),
    effects.put("addressConfirmationRequests", [fold(email), view.now], {}),
    effects.schedule(until, command({ actor: "realm" }, "address-confirmation.expire", expiry, null)),
    ...(inviter === undefined ? [] : mailEffects(view, invitationMail({ ...row, email, expiresAt }, inviter, link))),
  ]);
}

function isLimited(view: View, email: string): boolean {
  const newest = { start: [fold(email), Number.MAX_SAFE_INTEGER], end: [fold(email)], reverse: true };
  const times = view
    .keys("addressConfirmationRequests", { ...newest, limit: limits.address_confirmations_per_day_max })
    .map(([, requestedAt]) => requestedAt);
  const within = (ms: number) => times.filter((time) => time > view.now - ms).length;
  return (
    within(limits.address_confirmation_repeat_ms) > 0 ||
    within(hourMs) >= limits.address_confirmations_per_hour_max ||
    within(24 * hourMs) >= limits.address_confirmations_per_day_max
  );
}

/**
 * Accepting an invitation (spec 4.14) creates an account like POST /users, with the invitation's role, channels, groups
 * and welcome message. Everything is decided and written in one turn, so submitting the form twice creates one account.
 */
function accept({ row }: KnownInvitation, request: Command<"invitation.accept">, view: View): Outcome<KnownInvitation> {
  const isLink = kindOf(row) === "link";
  const { fullName, passwordHash } = request.params;
  const email = addressOf(view, row, request.params);
  if (email === null) return refuse.notFound();
  const refusedAddress = refuseAddress(view, email);
  if (refusedAddress !== null) return refusedAddress;
  const account = newAccount(view, {
    email,
    fullName,
    passwordHash,
    role: row.role,
    joinsDefaults: row.includesDefaults,
    ...givenPlaces(view, row),
    welcomeText: row.welcomeText,
    invitationId: row.id,
  });
  if (isRefusal(account)) return account;
  const { user } = account;
  const notice = `${silentMention(user)} accepted your invitation and has joined ${view.realm.name}.`;
  const all = [
    ...account.effects,
    ...(row.notifiesInviter ? [effects.send(botDirectMessage(row.inviterId, notice))] : []),
    ...(isLink ? [] : endEffects(view, row, "used")),
  ];
  return isLink ? done({ user_id: user.id }, all) : done({ user_id: user.id }, all, undefined, "used");
}

/** The address of the new account; null: it is not confirmed (D275). */
function addressOf(
  view: View,
  row: InvitationRecord,
  { email, confirmation }: Command<"invitation.accept">["params"],
): string | null {
  if (kindOf(row) === "mail") return row.email;
  if (confirmation === null) return confirmsAddresses(view) ? null : email;
  const confirmed = addressConfirmation(view, confirmation);
  return confirmed?.invitationId === row.id ? confirmed.email : null;
}

/** The page behind the link gives the reason (src/edge/pages/join.ts). */
const unusable = {
  ...reject(refuse.notFound, ["invitation.accept", "invitation.confirm-address"]),
  ...reject(noSuchInvitation, ["invitation.edit", "invitation.resend"]),
};

const ended = {
  ...unusable,
  ...lead(decide<KnownInvitation>({ "invitation.revoke": forEither(revokeEnded), "invitation.forget": forget }), {
    "invitation.forget": { unknown: "always" },
  }),
  ...ignore(["invitation.expire"]),
};

export const invitationMachine = setupMachine<Partial<KnownInvitation>>().createMachine({
  id: "invitation",
  context: {},
  initial: "unknown",
  meta: {
    elsewhere: [
      { from: "unknown", to: "valid", commands: ["invitation.create", "invitations.send"], by: "the realm" },
      { from: "valid", to: "lapsed", commands: [], by: "time, or the inviter's permissions" },
      { from: "lapsed", to: "valid", commands: [], by: "the inviter's permissions" },
    ],
  },
  states: {
    unknown: {
      on: {
        ...unusable,
        ...decide<unknown>({ "invitation.revoke": forEither(revokeEnded) }),
        ...ignore(["invitation.expire", "invitation.forget"]),
      },
    },
    valid: {
      on: {
        ...lead(
          decide<KnownInvitation>({
            "invitation.accept": accept,
            "invitation.confirm-address": confirmAddress,
            "invitation.edit": forUser(edit),
            "invitation.resend": forUser(resend),
            "invitation.revoke": forEither(revoke),
          }),
          { "invitation.accept": { used: "it is for one address" }, "invitation.revoke": { revoked: "always" } },
        ),
        ...ignore(["invitation.expire", "invitation.forget"]),
      },
    },
    lapsed: {
      on: {
        ...unusable,
        ...lead(decide<KnownInvitation>({ "invitation.revoke": forEither(revoke), "invitation.expire": expire }), {
          "invitation.revoke": { revoked: "always" },
          "invitation.expire": { expired: "its time has passed" },
        }),
        ...ignore(["invitation.forget"]),
      },
    },
    expired: { on: ended },
    revoked: { on: { ...ended, ...decide<KnownInvitation>({ "invitation.revoke": forEither(revokeAgain) }) } },
    used: { on: ended },
  },
  on: rejectUnhandled,
});
