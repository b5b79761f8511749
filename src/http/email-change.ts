/**
 * A new address for a person (spec 4.1 rule 2; behaviour 2.1 step 3): the request, which PATCH /settings makes, and the page that
 * the link in the mail leads to.
 */
import { command } from "../../actors/commands.ts";
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { refuseEmailChange } from "../domain/own-account.ts";
import { isEmailAddress } from "../domain/text.ts";
import { type Call, callerOf, type Handled, type Performed } from "../runtime/calls.ts";
import { type AskResult, ok } from "../runtime/entry.ts";
import { hashApiKey } from "./authentication.ts";
import { messagePage } from "./message-page.ts";
import type { PageRequest, PageRoute } from "./pages.ts";
import { newApiKey } from "./secrets.ts";
import { originOf } from "./site.ts";

const prefix = "/accounts/confirm_new_email/";

/**
 * Sends the confirmation mail; nothing changes before the link is followed. The current address is success without a mail.
 * Not under the request's Idempotency-Key: a repeat replaces the link, within the limit of mails.
 * @param site the organization's: where the link leads
 */
export async function startEmailChange(call: Call, email: string, site: string): Promise<Handled> {
  const caller = callerOf(call);
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

/** What a link leads to that is unknown, used, replaced or too old: which of them is told to nobody. */
const goneText = "This link is not valid: it was used already, replaced by a newer one, or is too old.";

async function confirm({ realm, rest, method }: PageRequest): Promise<Performed> {
  const keyHash = hashApiKey(rest);
  // Guesses cost a look-up, no turn.
  if (realm.view.row("emailChanges", keyHash) === undefined) return refusedPage(404, goneText);
  if (method === "HEAD") return messagePage(200, { title: "Confirm your new address", text: "Open this page." });
  const confirmed = await realm.dispatcher.ask(
    command({ actor: "realm" }, "user.email-change.confirm", { keyHash }, null),
  );
  return confirmed.kind === "ok"
    ? messagePage(200, {
        title: "Your address is confirmed",
        text: `The address of your account on ${realm.view.realm.name} is now ${confirmed.answer["email"]}.`,
      })
    : refusalPage(confirmed);
}

function refusalPage(refused: Exclude<AskResult, { kind: "ok" }>): Performed {
  switch (refused.code) {
    case "NOT_FOUND":
      return refusedPage(404, goneText);
    case "USER_DEACTIVATED":
      return refusedPage(404, "This account is deactivated.");
    case "BAD_REQUEST":
      return refusedPage(400, refused.msg);
    default:
      return refusedPage(503, "This cannot be done now. Try again later.");
  }
}

function refusedPage(status: number, text: string): Performed {
  return messagePage(status, { title: "This link changes nothing", text });
}

export const emailChangePages: readonly PageRoute[] = [{ prefix, serve: confirm }];
