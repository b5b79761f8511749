/**
 * A person asks for another address (spec 4.1 rule 2; behaviour 2.1): a link goes to the new one, and nothing changes until it is
 * followed (actors/realm/email-change.ts). Of the key in the link only the hash is kept (S2), but for the mail itself, which
 * holds it until it is sent.
 */
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { refuseEmailChange } from "../../src/domain/own-account.ts";
import { isReservedAddress } from "../../src/domain/people.ts";
import { addressFaultTexts, addressJudge } from "../../src/domain/realm-domains.ts";
import type { View } from "../../src/domain/view.ts";
import { type Command, command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { mailEffects } from "../mail.ts";

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

/** A newer request replaces the older: one link of a person is good at a time. */
export function requestEmailChange(
  _context: unknown,
  asked: Command<"user.email-change.request">,
  view: View,
): Outcome {
  const user = callerOf(asked, view);
  if (user === null) return refuse.noSuchUser();
  const refused = refuseEmailChange(view, user);
  if (refused !== null) return refused;
  const { newEmail, keyHash, link } = asked.params;
  const holder = view.users.byEmail(newEmail);
  if (isReservedAddress(newEmail) || (holder !== undefined && holder.id !== user.id)) {
    return refuse.badRequest("Already has an account.");
  }
  const fault = addressJudge(view)(newEmail);
  if (fault !== null) return refuse.badRequest(addressFaultTexts[fault]);
  const earlier = requestsOf(view, user.id);
  const waitMs = waitUntilNext(
    earlier.map(([, requestedAt]) => requestedAt),
    view.now,
  );
  if (waitMs > 0) return refuse.rateLimitHit(waitMs / 1000);
  const expiry = command(asked.to, "user.email-change.expire", { keyHash, requestedAt: view.now }, null);
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

/** What the person asked for within the last day, newest first. */
function requestsOf(view: View, userId: number) {
  const newest = { start: [userId, Number.MAX_SAFE_INTEGER], end: [userId], reverse: true };
  return view.keys("emailChangeRequests", { ...newest, limit: limits.email_changes_per_day_max });
}

/** No link that the person asked for leads anywhere any more. What was asked for still counts against the limit. */
export function revokeLinks(view: View, userId: number): Effect[] {
  return revoke(requestsOf(view, userId).map(([, , hash]) => hash));
}

function revoke(hashes: readonly string[]): Effect[] {
  return hashes.map((hash) => effects.remove("emailChanges", hash));
}

/** @param times of requests, newest first. @returns milliseconds until one more is allowed; 0: now */
function waitUntilNext(times: readonly number[], now: number): number {
  const windows = [
    { ms: hourMs, max: limits.email_changes_per_hour_max },
    { ms: dayMs, max: limits.email_changes_per_day_max },
  ];
  return Math.max(
    ...windows.map(({ ms, max }) => {
      const inside = times.filter((time) => time > now - ms);
      // With `max` inside, the oldest of the newest `max` must leave the window first.
      const leaving = inside[max - 1];
      return leaving === undefined ? 0 : leaving + ms - now;
    }),
  );
}

/** The link is too old, and the request no longer counts. */
export function expireEmailChange(_context: unknown, asked: Command<"user.email-change.expire">): Outcome {
  const { keyHash, requestedAt } = asked.params;
  const userId = asked.to.actor === "user" ? asked.to.id : 0;
  return done({}, [...revoke([keyHash]), effects.remove("emailChangeRequests", [userId, requestedAt, keyHash])]);
}
