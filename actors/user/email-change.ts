/**
 * A user requests an email change (spec 4.1 rule 2; behaviour 2.1): a link is sent to the new address, and the address
 * changes when the link is opened (actors/realm/email-change.ts). Only a hash of the link's key is stored (S2), except
 * in the pending email until it is sent.
 */

import { refuseEmailChange } from "../../domain/own-account.ts";
import { isReservedAddress } from "../../domain/people.ts";
import { addressFaultTexts, addressJudge } from "../../domain/realm-domains.ts";
import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/users.ts";
import {
  type Command,
  command,
  done,
  effects,
  forServer,
  forUser,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";
import { requestsOf, revoke } from "../rules/email-changes.ts";
import { mailEffects } from "../rules/mail.ts";

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

/** A new request replaces the previous one, unless it repeats it: a user has at most one valid link. */
export function requestEmailChange(
  user: UserRecord,
  params: Params<"user.email-change.request">,
  view: View,
  request: Command<"user.email-change.request">,
): Outcome {
  const refused = refuseEmailChange(view, user);
  if (refused !== null) return refused;
  const { newEmail, keyHash, link } = params;
  const holder = view.users.byEmail(newEmail);
  if (isReservedAddress(newEmail) || (holder !== undefined && holder.id !== user.id)) {
    return refuse.badRequest("Already has an account.");
  }
  const fault = addressJudge(view)(newEmail);
  if (fault !== null) return refuse.badRequest(addressFaultTexts[fault]);
  const earlier = requestsOf(view, user.id);
  if (isRepeated(view, earlier, newEmail)) return done({}, []);
  const waitMs = waitUntilNext(
    earlier.map(([, requestedAt]) => requestedAt),
    view.now,
  );
  if (waitMs > 0) return refuse.rateLimitHit(waitMs / 1000);
  const expiry = command(request.to, "user.email-change.expire", { keyHash, requestedAt: view.now }, null);
  return done({}, [
    ...revoke(earlier.map(([, , hash]) => hash)),
    effects.put("emailChanges", keyHash, { userId: user.id, newEmail, createdAt: view.now }),
    effects.put("emailChangeRequests", [user.id, view.now, keyHash], {}),
    effects.schedule(view.now + limits.email_change_link_ms, expiry),
    ...mailEffects(view, {
      template: "confirm-new-address",
      to: { email: newEmail, fullName: user.fullName },
      data: { email: user.email, newEmail, link },
    }),
  ]);
}

/** The link of a moment ago is on its way and still valid: another email would only end that link (D261). */
function isRepeated(view: View, earlier: ReturnType<typeof requestsOf>, newEmail: string): boolean {
  const since = view.now - limits.email_change_repeat_ms;
  return earlier.some(
    ([, requestedAt, keyHash]) => requestedAt > since && view.row("emailChanges", keyHash)?.newEmail === newEmail,
  );
}

/**
 * @param times times of requests, newest first
 * @returns milliseconds until another request is allowed; 0: now
 */
function waitUntilNext(times: readonly number[], now: number): number {
  const windows = [
    { ms: hourMs, max: limits.email_changes_per_hour_max },
    { ms: dayMs, max: limits.email_changes_per_day_max },
  ];
  return Math.max(
    ...windows.map(({ ms, max }) => {
      const inside = times.filter((time) => time > now - ms);
      // If `max` requests are in the window, the oldest of the newest `max` must leave it first.
      const leaving = inside[max - 1];
      return leaving === undefined ? 0 : leaving + ms - now;
    }),
  );
}

/** The link expires, and the request no longer counts toward the limit. */
export function expireEmailChange(
  params: Params<"user.email-change.expire">,
  _view: View,
  request: Command<"user.email-change.expire">,
): Outcome {
  const { keyHash, requestedAt } = params;
  const userId = request.to.actor === "user" ? request.to.id : 0;
  return done({}, [...revoke([keyHash]), effects.remove("emailChangeRequests", [userId, requestedAt, keyHash])]);
}

export const emailChangeDecisions = {
  "user.email-change.request": forUser(requestEmailChange),
  "user.email-change.expire": forServer(expireEmailChange),
} as const;
