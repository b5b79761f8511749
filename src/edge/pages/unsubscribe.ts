/**
 * Switches a kind of emails off from a link in one of them, without a login (RFC 8058; D258). Viewing the page changes
 * nothing, because mail scanners follow links. The signature in the link authorizes a POST from any sender and with any
 * body: mail services send it from their own servers.
 */

import { command } from "../../../actors/protocol/decision.ts";
import {
  isSubscribed,
  openUnsubscribeLink,
  type UnsubscribeTarget,
  unsubscribePrefix,
} from "../../../domain/unsubscribe-links.ts";
import type { UnsubscribeKindName } from "../../../schemas/unsubscribes.ts";
import type { RateLimits } from "../../operations/rate-limits.ts";
import type { PageRequest, PageRoute } from "../http/pages.ts";
import type { HttpReply } from "../http/reply.ts";
import { eta, formPage, frame, messagePage, tooManyPage } from "./small-pages.ts";

/** Completes "no more emails". */
const about: Readonly<Record<UnsubscribeKindName, string>> = {
  missed_messages: "about messages: neither direct messages and mentions, nor followed topics, nor channels",
  login: "about logins from a new program or place",
};

const form = eta.compile(
  frame(
    "Unsubscribe",
    `<h1>Unsubscribe</h1>
<p>With this button <%= it.realmName %> sends no more emails <%= it.about %> to <%= it.email %>. You can switch them on again in your settings.</p>
<form method="post" accept-charset="utf-8">
<input type="hidden" name="List-Unsubscribe" value="One-Click">
<button type="submit">Unsubscribe</button>
</form>`,
  ),
);

export function unsubscribePages({ rates }: { readonly rates: RateLimits }): readonly PageRoute[] {
  return [{ prefix: unsubscribePrefix, takesForms: true, serve: (request) => serve(request, rates) }];
}

function serve(request: PageRequest, rates: RateLimits): HttpReply | Promise<HttpReply> {
  const looked = rates.take("anonymous", request.address());
  if (looked !== null && looked.retryAfterS > 0) return tooManyPage(looked.retryAfterS);
  const { realm, rest, method } = request;
  // A guessed link costs a signature and no turn.
  const target = openUnsubscribeLink(realm.view, rest);
  if (target === undefined) return gone();
  if (!isSubscribed(realm.view, target)) return alreadyOff(realm.view.realm.name, target);
  if (method === "POST") return unsubscribe(request, target);
  const { name: realmName } = realm.view.realm;
  return formPage(200, form.call(eta, { realmName, about: about[target.kind], email: target.user.email }));
}

async function unsubscribe({ realm }: PageRequest, { kind, user }: UnsubscribeTarget): Promise<HttpReply> {
  const to = { actor: "user", id: user.id } as const;
  const params = { kind, email: user.email };
  const answer = await realm.dispatcher.ask(command(to, "user.unsubscribe", params, user.id));
  if (answer.kind === "refused")
    return answer.code === "NOT_FOUND" || answer.code === "USER_DEACTIVATED" ? gone() : unavailable();
  return messagePage(200, {
    title: "You are unsubscribed",
    text: `${realm.view.realm.name} sends no more emails ${about[kind]} to ${user.email}. You can switch them on again in your settings.`,
  });
}

function alreadyOff(realmName: string, { kind, user }: UnsubscribeTarget): HttpReply {
  return messagePage(200, {
    title: "You were unsubscribed already",
    text: `${realmName} sends no emails ${about[kind]} to ${user.email}. Nothing was changed. You can switch them on again in your settings.`,
  });
}

/** For a link that is malformed, forged, or of an address that no account has any more; the page does not reveal which. */
function gone(): HttpReply {
  return messagePage(404, {
    title: "This link is not valid",
    text: "It is incomplete, or the account has another address now or is deactivated. Log in to change which emails you get.",
    link: { to: "/", text: "Log in" },
  });
}

function unavailable(): HttpReply {
  return messagePage(503, { title: "The emails cannot be switched off right now", text: "Try again later." });
}
