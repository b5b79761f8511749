/** Domain objects of the organization (public API: /realm/domains, register). */
import { realmDomainBody, realmDomainsOf } from "../../domain/realm-domains.ts";
import type { View } from "../../domain/view.ts";
import type { Section } from "./state-section.ts";

export function listRealmDomains(view: View) {
  return realmDomainsOf(view).map(realmDomainBody);
}

export const realmDomainsState: Section<"realm_domains"> = (view) => ({ realm_domains: listRealmDomains(view) });
