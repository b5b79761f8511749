/**
 * Changes a user's email address (spec 4.1 rule 2; behaviour 2.1 step 3): the request made by PATCH /settings, and the
 * page behind the link in the confirmation email.
 */
import { command, type NoFields } from "../../actors/protocol/commands.ts";
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { refuseEmailChange } from "../domain/own-account.ts";
import { isEmailAddress } from "../domain/text.ts";
import { type Call, type HttpReply, requireCaller } from "../runtime/calls.ts";
import { ok, type Reply } from "../runtime/results.ts";
import { hashApiKey } from "./authentication.ts";
import type { PageRequest, PageRoute } from "./pages.ts";
import { newApiKey } from "./secrets.ts";
import { originOf } from "./site.ts";
import { messagePage } from "./small-pages.ts";

const prefix = "/accounts/confirm_new_email/";

/**
 * Sends the confirmation email; nothing changes before the link is opened. The current address succeeds without an
 * email. Not stored under the request's Idempotency-Key: a repeat a minute later replaces the link, within the email
 * rate limit.
 * @param site the organization's address, where the link leads
 */
export async function startEmailChange(call: Call, email: string, site: string): Promise<Reply<NoFields>> {
  const caller = requireCaller(call);
  const newEmail = email.trim();
  if (newEmail === caller.email) return ok({});
  const refused = refuseEmailChange(call.realm.view, caller);
  if (refused !== null) return refused;
  if (!isEmailAddress(newEmail, limits.email_code_points_max)) return refuse.badRequest("Enter a valid email address.");
  if (originOf(call.siteUrl) === null) return refuse.badRequest("Invalid host");
  const key = newApiKey();
  const link = `${site}${prefix}${key}`;
  const asked = { newEmail, keyHash: hashApiKey(key), link };
  return call.realm.dispatcher.ask(
    command({ actor: "user", id: caller.id }, "user.email-change.request", asked, caller.id),
  );
}

/** Shown for an unknown, used, replaced or expired link; the page does not reveal which. */
const goneText = "This link is not valid: it was used already, replaced by a newer one, or is too old.";

async function confirm({ realm, rest, method }: PageRequest): Promise<HttpReply> {
  const keyHash = hashApiKey(rest);
  // A guessed link costs a lookup and no turn.
  if (realm.view.row("emailChanges", keyHash) === undefined) return refusedPage(404, goneText);
  if (method === "HEAD") return messagePage(200, { title: "Confirm your new address", text: "Open this page." });
  const confirmed = await realm.dispatcher.ask(
    command({ actor: "realm" }, "user.email-change.confirm", { keyHash }, null),
  );
  return confirmed.kind === "ok"
    ? messagePage(200, {
        title: "Your address is confirmed",
        text: `The address of your account on ${realm.view.realm.name} is now ${confirmed.answer.email}.`,
      })
    : refusalPage(confirmed);
}

function refusalPage(refused: Exclude<Reply, { kind: "ok" }>): HttpReply {
  switch (refused.code) {
    case "NOT_FOUND":
      return refusedPage(404, goneText);
    case "USER_DEACTIVATED":
      return refusedPage(404, "This account is deactivated.");
    case "BAD_REQUEST":
      return refusedPage(400, refused.msg);
    default:
      return refusedPage(503, "The server cannot change the address right now. Try again later.");
  }
}

function refusedPage(status: number, text: string): HttpReply {
  return messagePage(status, { title: "Your address was not changed", text });
}

export const emailChangePages: readonly PageRoute[] = [{ prefix, serve: confirm }];
