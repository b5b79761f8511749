/**
 * Accepting an invitation (spec 4.14) creates an account like POST /users, with the invitation's role, channels, groups
 * and welcome message. Everything is decided and written in one turn, so submitting the form twice creates one account.
 */
import { addressConfirmation, confirmsAddresses, givenPlaces, kindOf } from "../../domain/invites.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal, refuse } from "../../schemas/errors.ts";
import type { InvitationRecord } from "../../schemas/invites.ts";
import type { Command } from "../protocol/commands.ts";
import { done, type Outcome } from "../protocol/decide.ts";
import { effects } from "../protocol/effects.ts";
import { newAccount, refuseAddress } from "../realm/users.ts";
import { endEffects } from "../rules/invitations.ts";
import { botDirectMessage, silentMention } from "../rules/notification-bot.ts";
import type { KnownInvitation } from "./lifecycle.ts";

export function accept(
  { row }: KnownInvitation,
  asked: Command<"invitation.accept">,
  view: View,
): Outcome<KnownInvitation> {
  const isLink = kindOf(row) === "link";
  const { fullName, passwordHash } = asked.params;
  const email = addressOf(view, row, asked.params);
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
