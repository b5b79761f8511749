/** Domains of an organization, and which addresses they admit (public API: /realm/domains, `emails_restricted_to_domains`). */
import { limits } from "../../schemas/limits.ts";
import type { RealmDomainRecord } from "../../schemas/records.ts";
import { realmSetting } from "./realm-settings.ts";
import type { View } from "./view.ts";

/** Oldest first. */
export function realmDomainsOf(view: View): readonly RealmDomainRecord[] {
  const rows = view.rows("realmDomains", { limit: limits.realm_domains_max }).map(({ row }) => row);
  return rows.sort((a, b) => a.id - b.id);
}

/** As clients know it (OpenAPI, RealmDomain): in answers, in state and in events alike. */
export function realmDomainBody({ domain, allowsSubdomains }: RealmDomainRecord) {
  return { domain, allow_subdomains: allowsSubdomains };
}

/** Why a text is no domain, in the words of the public server; null: it is one. */
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

/** Why the organization takes nobody with an address. */
export type AddressFault = "outside" | "plus";

/** null: the address is fine, or the organization restricts none. Many addresses are judged with one reading of the domains. */
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

/** What is said of an address in a list of addresses, or of one's own. */
export const addressFaultTexts: Readonly<Record<AddressFault, string>> = {
  outside: "Outside your domain.",
  plus: "Email addresses containing + are not allowed.",
};
