/**
 * Creates invitations (spec 4.14; public API: create-invite-link, send-invites) and checks the permissions, the grants
 * and the limits. Each invitation's own machine handles everything else (actors/invitation). Requests are atomic.
 */

import { type InvitationKind, mayInvite, refuseChannels, refuseGroups, refuseRole } from "../../domain/invites.ts";
import { isReservedAddress } from "../../domain/people.ts";
import { isAdministrator } from "../../domain/permissions.ts";
import { addressFaultTexts, addressJudge } from "../../domain/realm-domains.ts";
import { isEmailAddress } from "../../domain/text.ts";
import type { View } from "../../domain/view.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import type { InvitationOffer, InvitationRecord } from "../../schemas/invites.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import {
  command,
  done,
  type Effect,
  effects,
  forServer,
  forUser,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";
import { invitationMail, invitesChanged, refuseDailyLimit, sentEffects } from "../rules/invitations.ts";
import { mailEffects } from "../rules/mail.ts";
import { nextTimer } from "../rules/timers.ts";

/** POST /invites/multiuse. The HTTP handler builds the link from the key. */
export function createInvitation(caller: UserRecord, params: Params<"invitation.create">, view: View): Outcome {
  const refused = refuseOffer(view, caller, "link", params) ?? refuseNumber(view, caller, 1);
  if (refused !== null) return refused;
  const id = view.counter("invitation") + 1;
  const invitation = newInvitation(
    view,
    caller,
    { id, email: "", notifiesInviter: true, keyHash: params.keyHash, timer: nextTimer(view) },
    params,
  );
  return done({ id }, [
    effects.setCounter("invitation", id),
    ...invitationEffects(invitation),
    effects.put("invitationLinks", id, { key: params.key }),
    ...sentEffects(view, caller.id, [id]),
    invitesChanged(view, caller.id),
  ]);
}

/** POST /invites. One invalid address rejects the whole request, so that it is always clear who was invited. */
export function sendInvitations(caller: UserRecord, params: Params<"invitations.send">, view: View): Outcome {
  const refused =
    refuseOffer(view, caller, "mail", params) ??
    refuseAddresses(
      view,
      params.mails.map(({ email }) => email),
    ) ??
    refuseNumber(view, caller, params.mails.length);
  if (refused !== null) return refused;
  const firstId = view.counter("invitation") + 1;
  const { notifiesInviter } = params;
  const invitations = params.mails.map(({ email, keyHash }, index) =>
    newInvitation(
      view,
      caller,
      { id: firstId + index, email, notifiesInviter, keyHash, timer: nextTimer(view) + index },
      params,
    ),
  );
  const ids = invitations.map(({ id }) => id);
  return done({}, [
    effects.setCounter("invitation", firstId + ids.length - 1),
    ...invitations.flatMap(invitationEffects),
    ...sentEffects(view, caller.id, ids),
    ...mailEffects(
      view,
      ...params.mails.map((mail, index) => invitationMail(invitations[index] as InvitationRecord, caller, mail.link)),
    ),
    invitesChanged(view, caller.id),
  ]);
}

/** Checks in the public server's order (behaviour 9). */
function refuseOffer(view: View, caller: UserRecord, kind: InvitationKind, offer: InvitationOffer): Refusal | null {
  if (!mayInvite(view, caller, kind)) return refuse.insufficientPermission();
  return (
    refuseRole(caller, offer.role) ??
    refuseChannels(view, caller, offer.channelIds) ??
    refuseGroups(view, caller, offer.groupIds)
  );
}

function refuseNumber(view: View, caller: UserRecord, count: number): Refusal | null {
  if (view.count("invitations") + count > limits.invitations_per_realm_max)
    return refuse.badRequest("Too many invitations");
  const most = limits.invitations_per_user_max;
  if (!isAdministrator(caller) && view.invitations.ofInviter(caller.id) + count > most)
    return refuse.badRequest(`You have too many invitations (maximum ${most}).`);
  return refuseDailyLimit(view, caller.id, count);
}

function refuseAddresses(view: View, emails: readonly string[]): Refusal | null {
  const judge = addressJudge(view);
  const errors = emails.flatMap((email) => {
    const fault = isInvitable(email) ? judge(email) : "invalid";
    if (fault === null) return [];
    return [[email, fault === "invalid" ? "Invalid address." : addressFaultTexts[fault], false] as const];
  });
  if (errors.length > 0) {
    return refuse.invitationFailed("Some emails did not validate, so we didn't send any invitations.", errors);
  }
  const taken = emails.flatMap((email) => {
    const holder = view.users.byEmail(email);
    if (holder === undefined) return [];
    return [
      [email, holder.isActive ? "Already has an account." : "Account has been deactivated.", !holder.isActive] as const,
    ];
  });
  if (taken.length === 0) return null;
  return taken.length === emails.length
    ? refuse.invitationFailed("We weren't able to invite anyone.", taken)
    : refuse.invitationFailed(
        "Some of those addresses have an account already, so we didn't send any invitations.",
        taken,
      );
}

function isInvitable(email: string): boolean {
  return isEmailAddress(email, limits.email_code_points_max) && !isReservedAddress(email);
}

interface Addressed {
  readonly id: number;
  readonly email: string;
  readonly notifiesInviter: boolean;
  readonly keyHash: string;
  /**
   * Sequence number for its expiry timer. The invitations of one request share an expiry, so either all or none have a
   * timer.
   */
  readonly timer: number;
}

function newInvitation(view: View, inviter: UserRecord, to: Addressed, offer: InvitationOffer): InvitationRecord {
  return {
    id: to.id,
    state: "valid",
    email: to.email,
    inviterId: inviter.id,
    createdAt: view.now,
    expiresAt: offer.minutes === null ? null : view.now + offer.minutes * 60_000,
    role: offer.role,
    channelIds: [...new Set(offer.channelIds)],
    groupIds: [...new Set(offer.groupIds)],
    includesDefaults: offer.includesDefaults,
    notifiesInviter: to.notifiesInviter,
    // Only administrators may set it (spec 4.14, D17).
    welcomeText: isAdministrator(inviter) ? offer.welcomeText : null,
    keyHashes: [to.keyHash],
    timer: offer.minutes === null ? null : to.timer,
  };
}

function invitationEffects(invitation: InvitationRecord): Effect[] {
  const { id, email, expiresAt, keyHashes } = invitation;
  const expiry = command({ actor: "invitation", id }, "invitation.expire", {}, null);
  return [
    effects.put("invitations", id, invitation),
    ...keyHashes.map((hash) => effects.put("invitationKeys", hash, { id })),
    ...(email === "" ? [] : [effects.put("invitationAddresses", [fold(email), id], {})]),
    ...(expiresAt === null ? [] : [effects.schedule(expiresAt, expiry)]),
  ];
}

/** The link to an address that wanted to join by a reusable link (D275) is not valid any more. */
export function expireConfirmation({ email, requestedAt, keyHash }: Params<"address-confirmation.expire">): Outcome {
  return done({}, [
    effects.remove("addressConfirmations", keyHash),
    effects.remove("addressConfirmationRequests", [email, requestedAt]),
  ]);
}

export const invitesDecisions = {
  "invitation.create": forUser(createInvitation),
  "invitations.send": forUser(sendInvitations),
  "address-confirmation.expire": forServer(expireConfirmation),
} as const;
