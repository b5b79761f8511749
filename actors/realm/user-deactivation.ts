/**
 * Deactivates and reactivates accounts (spec 3 User account, 4.20; behaviour 2.20; public API: deactivate-own-user,
 * reactivate-user). Queues, polls and sockets end at once. API keys and sessions are kept while the account is deactivated,
 * so that rejected clients get the reason (D168), and end when it is reactivated (D274).
 * Subscriptions are kept but not counted; messages sent meanwhile are not received.
 */

import { validInvitations } from "../../domain/invites.ts";
import { isAdministrator } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import type { MailRecord } from "../../schemas/mails.ts";
import type { SubscriptionRecord } from "../../schemas/subscriptions.ts";
import { roles } from "../../schemas/types.ts";
import type { UserRecord } from "../../schemas/users.ts";
import {
  command,
  done,
  type Effect,
  effects,
  forEither,
  forUser,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";
import { endKeys } from "../rules/api-keys.ts";
import { botUpdates } from "../rules/bot-events.ts";
import { watchers } from "../rules/channel-events.ts";
import { revokeLinks } from "../rules/email-changes.ts";
import { deactivationMail } from "../rules/mail.ts";
import { notificationBotId } from "../rules/notification-bot.ts";
import { revokeResets } from "../rules/password-resets.ts";
import { endSessionsOf } from "../rules/sessions.ts";
import { endSetup } from "../rules/setup.ts";
import { endQueues, visibilityEvents } from "../rules/user-visibility.ts";
import { refuseReturn } from "./bot-admission.ts";
import { pauseSubscription, resumeSubscription } from "./subscription-records.ts";
import { departedGroupEvents, holderLeaves, holderReturns, returnedGroupEvents } from "./user-groups.ts";
import { isLastOwner, mayManage } from "./user-updates.ts";

/** DELETE /users/{user_id} (spec 4.20). */
export function deactivateUser(
  caller: UserRecord | null,
  { userId, comment }: Params<"user.deactivate">,
  view: View,
): Outcome {
  const user = view.users.get(userId);
  if (user === undefined || user.botType !== null || user.id === notificationBotId) return refuse.noSuchUser();
  if (!user.isActive) return refuse.badRequest("User is deactivated");
  if (caller !== null && !isAdministrator(caller)) return refuse.insufficientPermission();
  if (caller !== null && user.role === roles.owner && caller.role !== roles.owner) return refuse.ownerRequired();
  if (isLastOwner(view, user)) return refuse.badRequest("Cannot deactivate the only organization owner");
  const mail = comment === null ? [] : deactivationMail(view, user, comment);
  return done({}, [...deactivationEffects(view, user), ...mail]);
}

/** DELETE /users/me. */
export function deactivateSelf(caller: UserRecord, _params: unknown, view: View): Outcome {
  if (isLastPerson(view, caller)) return refuse.cannotDeactivateLastUser(false);
  if (isLastOwner(view, caller)) return refuse.cannotDeactivateLastUser(true);
  return done({}, deactivationEffects(view, caller));
}

function isLastPerson(view: View, user: UserRecord): boolean {
  for (const other of view.users.all()) {
    if (other.isActive && other.botType === null && other.id !== user.id) return false;
  }
  return true;
}

/** All effects of deactivating a user or a bot. A user's bots are deactivated first. */
export function deactivationEffects(view: View, user: UserRecord): Effect[] {
  const bots = [...view.bots.ofOwner(user.id)].sort((a, b) => a - b).flatMap((id) => view.users.get(id) ?? []);
  return [...bots.filter((bot) => bot.isActive).flatMap((bot) => endOf(view, bot)), ...endOf(view, user)];
}

function endOf(view: View, user: UserRecord): Effect[] {
  const subscriptions = activeSubscriptions(view, user);
  return [
    effects.put("users", user.id, { ...user, isActive: false }),
    ...endQueues(view, user.id),
    ...pendingMail(view, user),
    ...revokedInvitations(view, user),
    ...subscriptions.map((own) => effects.put("subscriptions", [own.channelId, user.id], pauseSubscription(view, own))),
    ...peerEvents(view, "peer_remove", user, subscriptions),
    effects.emit("realm_user", { op: "update", person: { user_id: user.id, is_active: false } }, { to: "realm" }),
    ...visibilityEvents(view, deltaOf(user, subscriptions, false)),
    ...holderLeaves(view, { ...user, isActive: false }),
    ...departedGroupEvents(view, { ...user, isActive: false }),
    ...botUpdates(view, user, ["is_active"]),
  ];
}

/**
 * Deletes the user's pending emails, unconfirmed email changes, links that set a password and the setup link. Bots have
 * none of them, so nothing is scanned for them.
 */
function pendingMail(view: View, user: UserRecord): Effect[] {
  if (user.botType !== null) return [];
  const range = { limit: limits.pending_mails_scanned_max };
  const mails = view.rows("mails", range).filter(({ row }) => isAbout(row, user));
  return [
    effects.remove("missedMessages", user.id),
    ...mails.map(({ key }) => effects.remove("mails", key)),
    ...revokeLinks(view, user.id),
    ...revokeResets(view, user.id),
    ...endSetup(view, user.id),
  ];
}

/** Revokes the user's invitations (behaviour 2.20). Reactivation does not restore them. */
function revokedInvitations(view: View, user: UserRecord): Effect[] {
  if (user.botType !== null) return [];
  return validInvitations(view)
    .filter(({ inviterId }) => inviterId === user.id)
    .map(({ id, email }) => {
      const params = { isLink: email === "" };
      return effects.send(command({ actor: "invitation", id }, "invitation.revoke", params, null));
    });
}

/**
 * Emails to the user's address, and confirmation requests sent to the address they wanted: their links are no longer
 * valid.
 */
function isAbout({ to, template, data }: MailRecord, { email }: UserRecord): boolean {
  return fold(to) === fold(email) || (template === "confirm-new-address" && data["email"] === email);
}

function activeSubscriptions(view: View, user: UserRecord): SubscriptionRecord[] {
  return [...view.subscriptions.ofUser(user.id)].filter((own) => own.isActive);
}

function peerEvents(
  view: View,
  op: "peer_add" | "peer_remove",
  user: UserRecord,
  subscriptions: readonly SubscriptionRecord[],
): Effect[] {
  return subscriptions
    .flatMap(({ channelId }) => view.channels.get(channelId) ?? [])
    .map((channel) =>
      effects.emit("subscription", { op, stream_ids: [channel.id], user_ids: [user.id] }, watchers(channel, [user.id])),
    );
}

function deltaOf(user: UserRecord, subscriptions: readonly SubscriptionRecord[], isInAfter: boolean) {
  return {
    userIds: new Set([user.id]),
    channelIds: new Set(subscriptions.map(({ channelId }) => channelId)),
    isInAfter: () => isInAfter,
  };
}

/** POST /users/{user_id}/reactivate. Has no effect on an active user. */
export function reactivateUser(caller: UserRecord | null, params: Params<"user.reactivate">, view: View): Outcome {
  const user = view.users.get(params.userId);
  if (user === undefined || user.id === notificationBotId) return refuse.noSuchUser();
  const refused = caller === null ? null : checkReactivation(view, caller, user);
  if (refused !== null) return refused;
  return done({}, user.isActive ? [] : returnEffects(view, user, caller));
}

/**
 * Reactivating an owner grants the owner role, which only owners may do (spec 4.8). Reactivating a bot is checked like
 * creating one.
 */
function checkReactivation(view: View, caller: UserRecord, user: UserRecord): Refusal | null {
  if (!mayManage(caller, user)) return refuse.insufficientPermission();
  if (user.isActive) return null;
  if (user.role === roles.owner && caller.role !== roles.owner) return refuse.ownerRequired();
  return user.botType === null
    ? null
    : refuseReturn(view, caller, user, ownerOfReturned(view, user, caller) ?? caller.id);
}

function returnEffects(view: View, user: UserRecord, caller: UserRecord | null): Effect[] {
  const subscriptions = activeSubscriptions(view, user);
  const botOwnerId = ownerOfReturned(view, user, caller);
  const isAdopted = botOwnerId !== user.botOwnerId;
  const after = { ...user, isActive: true, botOwnerId };
  const person = { user_id: user.id, is_active: true };
  return [
    effects.put("users", user.id, after),
    ...endKeys(view, user.id),
    ...endSessionsOf(view, user.id, null),
    ...subscriptions.map((own) =>
      effects.put("subscriptions", [own.channelId, user.id], resumeSubscription(view, own)),
    ),
    // Guests who can see the user from now on receive the user before any other event about them.
    ...visibilityEvents(view, deltaOf(user, subscriptions, true)),
    effects.emit("realm_user", { op: "update", person }, { to: "realm" }),
    ...(isAdopted
      ? [
          effects.emit(
            "realm_user",
            { op: "update", person: { user_id: user.id, bot_owner_id: botOwnerId } },
            { to: "realm" },
          ),
        ]
      : []),
    ...peerEvents(view, "peer_add", user, subscriptions),
    ...returnedGroupEvents(view, after),
    ...holderReturns(view, after),
    ...botUpdates(view, after, isAdopted ? ["is_active", "owner_id"] : ["is_active"]),
  ];
}

/** A bot whose owner is deactivated becomes the bot of the user who reactivates it. */
function ownerOfReturned(view: View, user: UserRecord, caller: UserRecord | null): number | null {
  const owner = user.botOwnerId === null ? undefined : view.users.get(user.botOwnerId);
  return user.botType === null || owner?.isActive === true || caller === null ? user.botOwnerId : caller.id;
}

export const userDeactivationDecisions = {
  "user.deactivate-self": forUser(deactivateSelf),
  "user.reactivate": forEither(reactivateUser),
  "user.deactivate": forEither(deactivateUser),
} as const;
