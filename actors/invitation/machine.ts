/**
 * An invitation (spec 3): a reusable link, or one address that is invited. Its row is written by the realm, with state `valid`.
 *
 *   valid --expire, by a durable timer (M8)--> expired
 *   valid --revoke--> revoked               by who made it, by administrators, or when the inviter is deactivated
 *   valid --accept--> valid                 a reusable link: an account more
 *   valid --accept--> used                  an address that was invited: once
 *   valid --edit--> valid                   a reusable link: other channels, another role, another time
 *   valid --resend--> valid                 one mail more, with a link of its own
 *   expired, revoked, used --forget--> unknown    some time later, by a durable timer: its link is as one that never was
 */
import { setup } from "xstate";
import type { InvitationState } from "../../schemas/records.ts";
import { type CommandEvent, type Emitted, hosting } from "../decide.ts";
import { accept } from "./acceptance.ts";
import { edit } from "./edits.ts";
import { expire, forget, leadsNowhere, resend, revoke, revokedAlready, tooLate } from "./life.ts";

export interface InvitationContext {
  readonly fate: InvitationState | "unknown";
}

const { decide, notUnderstood } = hosting<InvitationContext>();

const isNow =
  (fate: InvitationContext["fate"]) =>
  ({ context }: { readonly context: InvitationContext }) =>
    context.fate === fate;

const over = {
  "invitation.accept": { actions: decide(leadsNowhere) },
  "invitation.edit": { actions: decide(leadsNowhere) },
  "invitation.resend": { actions: decide(leadsNowhere) },
  "invitation.revoke": { actions: decide(leadsNowhere) },
  "invitation.expire": { actions: decide(tooLate) },
  "invitation.forget": { actions: decide(forget) },
};

const forgotten = { guard: isNow("unknown"), target: "unknown" };

export const invitationMachine = setup({
  types: { context: {} as InvitationContext, events: {} as CommandEvent, emitted: {} as Emitted },
}).createMachine({
  id: "invitation",
  context: { fate: "unknown" },
  initial: "unknown",
  states: {
    unknown: { on: { ...over, "invitation.forget": { actions: decide(tooLate) } } },
    valid: {
      on: {
        "invitation.accept": { actions: decide(accept) },
        "invitation.edit": { actions: decide(edit) },
        "invitation.resend": { actions: decide(resend) },
        "invitation.revoke": { actions: decide(revoke) },
        "invitation.expire": { actions: decide(expire) },
        "invitation.forget": { actions: decide(tooLate) },
      },
      always: [
        { guard: isNow("expired"), target: "expired" },
        { guard: isNow("revoked"), target: "revoked" },
        { guard: isNow("used"), target: "used" },
      ],
    },
    expired: { on: over, always: forgotten },
    revoked: { on: { ...over, "invitation.revoke": { actions: decide(revokedAlready) } }, always: forgotten },
    used: { on: over, always: forgotten },
  },
  on: { "*": { actions: notUnderstood } },
});
