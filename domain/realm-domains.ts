/**
 * Domains of an organization, and the email addresses they allow (public API: /realm/domains,
 * `emails_restricted_to_domains`).
 */
import { limits } from "../schemas/limits.ts";
import type { RealmDomainRecord } from "../schemas/realm-domains.ts";
import { realmSetting } from "./realm-settings.ts";
import type { View } from "./view.ts";

/** Oldest first. */
export function realmDomainsOf(view: View): readonly RealmDomainRecord[] {
  const rows = view.rows("realmDomains", { limit: limits.realm_domains_max }).map(({ row }) => row);
  return rows.sort((a, b) => a.id - b.id);
}

/** The form that clients see (OpenAPI, RealmDomain), in answers, state and events. */
export function realmDomainBody({ domain, allowsSubdomains }: RealmDomainRecord) {
  return { domain, allow_subdomains: allowsSubdomains };
}

/** Why a text is not a valid domain, in Zulip's words, or null. */
export function domainFault(domain: string): string | null {
  if (domain === "") return "Domain can't be empty.";
  if (!domain.includes(".")) return "Domain must have at least one dot (.)";
  if (domain.length > limits.realm_domain_characters_max) return "Domain is too long";
  if (domain.startsWith(".") || domain.endsWith(".")) return "Domain cannot start or end with a dot (.)";
  for (const label of domain.split(".")) {
    if (label === "") return "Consecutive '.' are not allowed.";
    if (label.startsWith("-") || label.endsWith("-")) return "Subdomains cannot start or end with a '-'.";
    if (!/^[a-z0-9-]*$/.test(label)) return "Domain can only have letters, numbers, '.' and '-'s.";
  }
  return null;
}

/** Why the organization rejects an address. */
export type AddressFault = "outside" | "plus";

/** Returns a check that gives null for an allowed address. It reads the domains once for many addresses. */
export function addressJudge(view: View): (email: string) => AddressFault | null {
  if (!realmSetting(view, "emails_restricted_to_domains")) return () => null;
  const domains = realmDomainsOf(view);
  const exact = new Set(domains.map(({ domain }) => domain));
  const withSubdomains = new Set(domains.flatMap((row) => (row.allowsSubdomains ? [row.domain] : [])));
  return (email) => {
    const at = email.lastIndexOf("@");
    if (email.slice(0, at).includes("+")) return "plus";
    let domain = email.slice(at + 1).toLowerCase();
    if (exact.has(domain)) return null;
    for (let dot = domain.indexOf("."); dot >= 0; dot = domain.indexOf(".")) {
      domain = domain.slice(dot + 1);
      if (withSubdomains.has(domain)) return null;
    }
    return "outside";
  };
}

/** The error texts, for lists of addresses and for one's own address. */
export const addressFaultTexts: Readonly<Record<AddressFault, string>> = {
  outside: "Outside your domain.",
  plus: "Email addresses containing + are not allowed.",
};
