/** The organization's domains as clients know them (public API: /realm/domains, register). */
import { realmDomainBody, realmDomainsOf } from "../domain/realm-domains.ts";
import type { View } from "../domain/view.ts";
import type { Section } from "./state-section.ts";

export function listRealmDomains(view: View) {
  return realmDomainsOf(view).map(realmDomainBody);
}

export const realmDomainsState: Section = (view) => ({ realm_domains: listRealmDomains(view) });
