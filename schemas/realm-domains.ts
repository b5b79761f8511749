/**
 * Domains of an organization. If the organization restricts domains, the email addresses of new users must be in one of
 * them (public API: /realm/domains).
 */
import { Type } from "typebox";
import { defineArea, defineCommands, defineTable } from "./area.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import { sentAsStored } from "./event.ts";
import { OtherId, OtherText } from "./person-marks.ts";

const limits = {
  realm_domain_characters_max: 255,
  realm_domains_max: 1000,
} as const;

export const RealmDomain = Type.Object(
  { domain: OtherText, allow_subdomains: Type.Boolean() },
  { title: "RealmDomain" },
);

const errors = ["UNAUTHORIZED_PRINCIPAL"] as const;

export const getRealmDomains = defineEndpoint({
  operationId: "get-realm-domains",
  method: "GET",
  path: "/realm/domains",
  authentication: "user",
  effectiveness: "read",
  summary: "Returns the organization's domains, oldest first.",
  params: {},
  ok: { domains: Type.Array(RealmDomain) },
  errors: [],
});

export const createRealmDomain = defineEndpoint({
  operationId: "create-realm-domain",
  method: "POST",
  path: "/realm/domains",
  authentication: "user",
  effectiveness: "durable",
  summary: "Adds a domain; organization owners only.",
  /** Raw text, or the text as a JSON string, as sent by the web client. */
  params: { domain: Type.String({ wire: "json-or-text" }), allow_subdomains: Type.Boolean() },
  ok: { new_domain: Type.Array(Type.Union([OtherId, OtherText])) },
  errors,
});

export const updateRealmDomain = defineEndpoint({
  operationId: "update-realm-domain",
  method: "PATCH",
  path: "/realm/domains/{domain}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Sets whether subdomains of a domain are included; organization owners only.",
  params: { domain: Type.String(), allow_subdomains: Type.Boolean() },
  ok: {},
  errors,
});

export const deleteRealmDomain = defineEndpoint({
  operationId: "delete-realm-domain",
  method: "DELETE",
  path: "/realm/domains/{domain}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Removes a domain; organization owners only. Removing the last one ends the restriction of addresses.",
  params: { domain: Type.String() },
  ok: {},
  errors,
});

/** A domain that email addresses of new users may have in an organization that restricts them. */
export interface RealmDomainRecord {
  readonly id: number;
  /** Lower case. */
  readonly domain: string;
  readonly allowsSubdomains: boolean;
}

/** Parameters of its commands, by type. */
export interface RealmDomainsCommands {
  "realm-domain.add": { readonly domain: string; readonly allowsSubdomains: boolean };
  "realm-domain.update": { readonly domain: string; readonly allowsSubdomains: boolean };
  "realm-domain.remove": { readonly domain: string };
}

/** Their replies, by type; other commands reply without fields. */
export interface RealmDomainsReplies {
  readonly "realm-domain.add": ResultOf<typeof createRealmDomain>;
}

export const realmDomainsArea = defineArea({
  endpoints: [getRealmDomains, createRealmDomain, updateRealmDomain, deleteRealmDomain],
  commands: defineCommands<RealmDomainsCommands, RealmDomainsReplies>(),
  state: { realm_domains: { realm_domains: Type.Array(RealmDomain) } },
  tables: {
    realmDomains: defineTable<string, RealmDomainRecord>({
      fields: ["id", "domain", "allowsSubdomains"],
    }),
  },
  events: {
    realm_domains: sentAsStored({
      add: { realm_domain: RealmDomain },
      change: { realm_domain: RealmDomain },
      remove: { domain: OtherText },
    }),
  },
  counters: ["realmDomain"],
  limits,
});
