/**
 * The page behind the link that confirms a new email address (spec 4.1 rule 2; behaviour 2.1 step 3).
 */

import { command } from "../../../actors/protocol/decision.ts";
import { refuse } from "../../../schemas/errors.ts";
import { hashApiKey } from "../../operations/identity/authentication.ts";
import { emailChangePrefix as prefix } from "../../operations/links.ts";
import type { Realm } from "../../runtime/realm.ts";
import type { Reply } from "../../runtime/results.ts";
import { errorPage, type PageRequest, type PageRoute } from "../http/pages.ts";
import type { HttpReply } from "../http/reply.ts";
import { eta, formPage, frame, messagePage } from "./small-pages.ts";

const form = eta.compile(
  frame(
    "Confirm your new address",
    `<h1>Confirm your new address</h1>
<p>With this button the address of your account on <%= it.realmName %> changes from <%= it.email %> to <%= it.newEmail %>.</p>
<form method="post" accept-charset="utf-8">
<button type="submit">Confirm the new address</button>
</form>`,
  ),
);

/** Viewing the page changes nothing, because mail scanners follow links. */
function serve(request: PageRequest): HttpReply | Promise<HttpReply> {
  const { realm, rest, method, isFromForeignPage } = request;
  if (method === "POST" && isFromForeignPage) return errorPage(refuse.crossSite());
  const keyHash = hashApiKey(rest);
  // A guessed link costs a lookup and no turn.
  const change = realm.view.row("emailChanges", keyHash);
  const user = change === undefined ? undefined : realm.view.users.get(change.userId);
  if (change === undefined || user === undefined) return gonePage();
  if (method === "POST") return confirm(realm, keyHash);
  const { name: realmName } = realm.view.realm;
  return formPage(200, form.call(eta, { realmName, email: user.email, newEmail: change.newEmail }));
}

async function confirm(realm: Realm, keyHash: string): Promise<HttpReply> {
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

/**
 * For an unknown, used, replaced or expired link; the page does not reveal which. A user who presses the button twice
 * sees only this answer, so it does not say that nothing was changed.
 */
function gonePage(): HttpReply {
  return messagePage(404, {
    title: "This link is not valid",
    text: "It was used already, replaced by a newer one, or is too old. If you have just pressed the button, your new address is confirmed.",
    link: { to: "/", text: "Look at your address in the settings" },
  });
}

function refusalPage(refused: Exclude<Reply, { kind: "ok" }>): HttpReply {
  switch (refused.code) {
    case "NOT_FOUND":
      return gonePage();
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

export const emailChangePages: readonly PageRoute[] = [{ prefix, takesForms: true, serve }];
