/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { RealmDomain } from "./types.ts";
export interface RealmDomainsOperations {
  /** Returns the organization's domains, oldest first. */
  "GET /realm/domains": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: { readonly domains: readonly RealmDomain[] };
  };
  /** Adds a domain; organization owners only. */
  "POST /realm/domains": {
    readonly params: RealmDomain;
    readonly result: { readonly new_domain: readonly (number | string)[] };
  };
  /** Sets whether subdomains of a domain are included; organization owners only. */
  "PATCH /realm/domains/{domain}": {
    readonly params: RealmDomain;
    readonly result: Readonly<Record<never, never>>;
  };
  /** Removes a domain; organization owners only. Removing the last one ends the restriction of addresses. */
  "DELETE /realm/domains/{domain}": {
    readonly params: { readonly domain: string };
    readonly result: Readonly<Record<never, never>>;
  };
}

export interface RealmDomainsEvents {
  realm_domains:
    | { readonly type: "realm_domains"; readonly id: number; readonly op: "add"; readonly realm_domain: RealmDomain }
    | { readonly type: "realm_domains"; readonly id: number; readonly op: "change"; readonly realm_domain: RealmDomain }
    | { readonly type: "realm_domains"; readonly id: number; readonly op: "remove"; readonly domain: string };
}

export interface RealmDomainsState {
  readonly realm_domains?: readonly RealmDomain[];
}
