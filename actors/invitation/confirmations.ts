/**
 * Confirming an address before it joins by a reusable link (D275): anybody may have the link, and the organization takes
 * only people with an address in its domains, so they must show that they read the emails to it.
 */
import { kindOf } from "../../domain/invites.ts";
import { isReservedAddress } from "../../domain/people.ts";
import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import { fold } from "../../schemas/fold.ts";
import { limits } from "../../schemas/limits.ts";
import { type Command, command } from "../protocol/commands.ts";
import { done, type Outcome } from "../protocol/decide.ts";
import { effects } from "../protocol/effects.ts";
import { refuseAddress } from "../realm/users.ts";
import { invitationMail } from "../rules/invitations.ts";
import { mailEffects } from "../rules/mail.ts";
import type { KnownInvitation } from "./lifecycle.ts";

const hourMs = 60 * 60 * 1000;

/** Nothing is sent to an address that has an account, or was sent enough. The reply does not show it. */
export function confirmAddress(
  { row }: KnownInvitation,
  asked: Command<"invitation.confirm-address">,
  view: View,
): Outcome<KnownInvitation> {
  if (kindOf(row) !== "link") return refuse.notFound();
  const { email, keyHash, link } = asked.params;
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
