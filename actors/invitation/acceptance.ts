/**
 * Somebody follows an invitation (spec 4.14): an account as POST /users makes it, with the role, channels, groups and welcome
 * message of the invitation. All is decided and written in one turn: two submissions of one form make one account.
 */
import { refuse } from "../../schemas/errors.ts";
import { givenPlaces, kindOf, standing } from "../../src/domain/invites.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";
import { botDirectMessage, silently } from "../realm/notification-bot.ts";
import { newAccount, refuseAddress } from "../realm/users.ts";
import { endEffects } from "./effects.ts";
import { rowOf } from "./life.ts";
import type { InvitationContext } from "./machine.ts";

export function accept(
  _context: InvitationContext,
  asked: Command<"invitation.accept">,
  view: View,
): Outcome<InvitationContext> {
  const row = rowOf(asked, view);
  if (row === undefined || standing(view, row) !== "valid") return refuse.notFound();
  const isLink = kindOf(row) === "link";
  const { fullName, passwordHash } = asked.params;
  const email = isLink ? asked.params.email : row.email;
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
  if ("kind" in account) return account;
  const { user } = account;
  const notice = `${silently(user)} accepted your invitation and has joined ${view.realm.name}.`;
  const all = [
    ...account.effects,
    ...(row.notifiesInviter ? [effects.tell(botDirectMessage(row.inviterId, notice))] : []),
    ...(isLink ? [] : endEffects(view, row, "used")),
  ];
  return isLink ? done({ user_id: user.id }, all) : done({ user_id: user.id }, all, { fate: "used" });
}
