/** Asks for another email address (spec 4.1 rule 2; behaviour 2.1 step 3); the page behind its link confirms it. */
import { command, type NoFields } from "../../../actors/protocol/commands.ts";
import { refuseEmailChange } from "../../../domain/own-account.ts";
import { isEmailAddress } from "../../../domain/text.ts";
import { refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import { ok, type Reply } from "../../runtime/results.ts";
import { type Call, requireCaller } from "../calls.ts";
import { emailChangeLink } from "../links.ts";
import { originOf } from "../site.ts";
import { hashApiKey } from "./authentication.ts";
import { newSecret } from "./secrets.ts";

/**
 * Sends the confirmation email; nothing changes before the user presses the button on the page behind the link. The current address succeeds without an
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
  const key = newSecret();
  const link = emailChangeLink(site, key);
  const asked = { newEmail, keyHash: hashApiKey(key), link };
  return call.realm.dispatcher.ask(
    command({ actor: "user", id: caller.id }, "user.email-change.request", asked, caller.id),
  );
}
