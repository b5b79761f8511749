/**
 * An invitation (spec 3): a reusable link, or an invitation for one email address. The realm actor writes its row with
 * the state `valid`. A lapsed invitation is still valid in its row, but grants nothing (lifecycle.ts).
 *
 *    valid --time passes, or the inviter loses the permission--> lapsed
 *    lapsed --expire, by a durable timer (M8)--> expired
 *    valid, lapsed --revoke--> revoked       by its creator, by an administrator, or because the inviter is deactivated
 *    valid --accept--> valid                 a reusable link: one more account
 *    valid --accept--> used                  an invitation for one address: only once
 *    valid --confirm-address--> valid        a reusable link: an email to somebody who wants to join (D275)
 *    valid --edit--> valid                   a reusable link: new channels, role or expiry
 *    valid --resend--> valid                 another email with its own key
 *    expired, revoked, used --forget--> unknown    later, by a durable timer: the link looks as if it never existed
 */
import { refuse } from "../../schemas/errors.ts";
import { forEither, forUser } from "../protocol/decide.ts";
import { decide, ignore, lead, reject, rejectUnhandled, setupMachine } from "../protocol/machine-setup.ts";
import { accept } from "./acceptance.ts";
import { confirmAddress } from "./confirmations.ts";
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
