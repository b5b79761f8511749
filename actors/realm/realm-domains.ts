/** Domains of the organization (public API: /realm/domains): owners add, change and remove them. */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import { domainFault, realmDomainBody, realmDomainsOf } from "../../src/domain/realm-domains.ts";
import { realmSetting, withSettings } from "../../src/domain/realm-settings.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Answer, type Effect, effects } from "../effects.ts";
import { realmEvent } from "./realm-events.ts";

/** POST /realm/domains. */
export function addRealmDomain(_context: unknown, asked: Command<"realm-domain.add">, view: View): Outcome {
  const { domain, allowsSubdomains } = asked.params;
  const refused = refuseCaller(asked, view);
  if (refused !== null) return refused;
  const fault = domainFault(domain);
  if (fault !== null) return refuse.badRequest(`Invalid domain: ${fault}`);
  if (view.row("realmDomains", domain) !== undefined) {
    return refuse.badRequest(`The domain ${domain} is already a part of your organization.`);
  }
  if (realmDomainsOf(view).length >= limits.realm_domains_max) return refuse.badRequest("Too many domains");
  const row = { id: view.counter("realmDomain") + 1, domain, allowsSubdomains };
  return done({ new_domain: [row.id, domain] }, [
    effects.count("realmDomain", row.id),
    effects.put("realmDomains", domain, row),
    tell({ op: "add", realm_domain: realmDomainBody(row) }),
  ]);
}

/** PATCH /realm/domains/{domain}. What is so already is told to nobody. */
export function updateRealmDomain(_context: unknown, asked: Command<"realm-domain.update">, view: View): Outcome {
  const { domain, allowsSubdomains } = asked.params;
  const refused = refuseCaller(asked, view);
  if (refused !== null) return refused;
  const before = view.row("realmDomains", domain);
  if (before === undefined) return unknown(domain);
  if (before.allowsSubdomains === allowsSubdomains) return done({}, []);
  const row = { ...before, allowsSubdomains };
  return done({}, [
    effects.put("realmDomains", domain, row),
    tell({ op: "change", realm_domain: realmDomainBody(row) }),
  ]);
}

/** DELETE /realm/domains/{domain}. A restriction to no domain at all would let nobody in: it ends with the last domain. */
export function removeRealmDomain(_context: unknown, asked: Command<"realm-domain.remove">, view: View): Outcome {
  const { domain } = asked.params;
  const refused = refuseCaller(asked, view);
  if (refused !== null) return refused;
  if (view.row("realmDomains", domain) === undefined) return unknown(domain);
  const isLast = realmDomainsOf(view).length === 1;
  return done({}, [
    effects.remove("realmDomains", domain),
    ...(isLast && realmSetting(view, "emails_restricted_to_domains") ? unrestricted(view) : []),
    tell({ op: "remove", domain }),
  ]);
}

function unrestricted(view: View): Effect[] {
  const change = { emails_restricted_to_domains: false };
  return [effects.put("realm", "realm", withSettings(view.realm, change)), realmEvent(change)];
}

function unknown(domain: string): Refusal {
  return refuse.badRequest(`No entry found for domain ${domain}.`);
}

function refuseCaller(asked: Command, view: View): Refusal | null {
  const caller = callerOf(asked, view);
  return caller === null || caller.role === roles.owner ? null : refuse.ownerRequired();
}

function tell(body: Answer): Effect {
  return effects.emit("realm_domains", body, { to: "realm" });
}
