/** Domains of the organization (public API: /realm/domains), managed by owners. */

import { domainFault, realmDomainBody, realmDomainsOf } from "../../domain/realm-domains.ts";
import { realmSetting, withSettings } from "../../domain/realm-settings.ts";
import type { View } from "../../domain/view.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { StoredBody } from "../../schemas/events.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { done, type Effect, effects, forUser, type Outcome, type Params } from "../protocol/decision.ts";
import { realmEvent } from "./realm-events.ts";

/** POST /realm/domains. */
export function addRealmDomain(
  caller: UserRecord,
  { domain, allowsSubdomains }: Params<"realm-domain.add">,
  view: View,
): Outcome {
  if (caller.role !== roles.owner) return refuse.ownerRequired();

  const fault = domainFault(domain);
  if (fault !== null) return refuse.badRequest(`Invalid domain: ${fault}`);
  if (view.row("realmDomains", domain) !== undefined) {
    return refuse.badRequest(`The domain ${domain} is already a part of your organization.`);
  }
  if (realmDomainsOf(view).length >= limits.realm_domains_max) return refuse.badRequest("Too many domains");
  const row = { id: view.counter("realmDomain") + 1, domain, allowsSubdomains };
  return done({ new_domain: [row.id, domain] }, [
    effects.setCounter("realmDomain", row.id),
    effects.put("realmDomains", domain, row),
    domainEvent({ op: "add", realm_domain: realmDomainBody(row) }),
  ]);
}

/** PATCH /realm/domains/{domain}. Emits nothing if the value does not change. */
export function updateRealmDomain(
  caller: UserRecord,
  { domain, allowsSubdomains }: Params<"realm-domain.update">,
  view: View,
): Outcome {
  if (caller.role !== roles.owner) return refuse.ownerRequired();

  const before = view.row("realmDomains", domain);
  if (before === undefined) return unknown(domain);
  if (before.allowsSubdomains === allowsSubdomains) return done({}, []);
  const row = { ...before, allowsSubdomains };
  return done({}, [
    effects.put("realmDomains", domain, row),
    domainEvent({ op: "change", realm_domain: realmDomainBody(row) }),
  ]);
}

/**
 * DELETE /realm/domains/{domain}. Without any domain, the restriction would reject every address, so it is switched off
 * with the last one.
 */
export function removeRealmDomain(caller: UserRecord, { domain }: Params<"realm-domain.remove">, view: View): Outcome {
  if (caller.role !== roles.owner) return refuse.ownerRequired();

  if (view.row("realmDomains", domain) === undefined) return unknown(domain);
  const isLast = realmDomainsOf(view).length === 1;
  return done({}, [
    effects.remove("realmDomains", domain),
    ...(isLast && realmSetting(view, "emails_restricted_to_domains") ? unrestricted(view) : []),
    domainEvent({ op: "remove", domain }),
  ]);
}

function unrestricted(view: View): Effect[] {
  const change = { emails_restricted_to_domains: false };
  return [effects.put("realm", "realm", withSettings(view.realm, change)), realmEvent(change)];
}

function unknown(domain: string): Refusal {
  return refuse.badRequest(`No entry found for domain ${domain}.`);
}

function domainEvent(body: StoredBody<"realm_domains">): Effect {
  return effects.emit("realm_domains", body, { to: "realm" });
}

export const realmDomainsDecisions = {
  "realm-domain.add": forUser(addRealmDomain),
  "realm-domain.update": forUser(updateRealmDomain),
  "realm-domain.remove": forUser(removeRealmDomain),
} as const;
