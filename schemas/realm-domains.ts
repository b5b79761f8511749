/** Domains of an organization: where addresses of new people may be, if it says so (public API: /realm/domains). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { Id } from "./types.ts";

export const RealmDomain = Type.Object({ domain: Type.String(), allow_subdomains: Type.Boolean() });

const errors = ["UNAUTHORIZED_PRINCIPAL"] as const;

export const getRealmDomains = defineEndpoint({
  operationId: "get-realm-domains",
  method: "GET",
  path: "/realm/domains",
  authentication: "user",
  effectiveness: "read",
  summary: "The organization's domains, oldest first.",
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
  /** Raw text, or the same as a JSON string, as the web client sends it. */
  params: { domain: Type.String({ wire: "json-or-text" }), allow_subdomains: Type.Boolean() },
  ok: { new_domain: Type.Array(Type.Union([Id, Type.String()])) },
  errors,
});

export const updateRealmDomain = defineEndpoint({
  operationId: "update-realm-domain",
  method: "PATCH",
  path: "/realm/domains/{domain}",
  authentication: "user",
  effectiveness: "durable",
  summary: "Says whether subdomains of a domain count, too; organization owners only.",
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
  summary: "Removes a domain; organization owners only. Without the last one, addresses are not restricted any more.",
  params: { domain: Type.String() },
  ok: {},
  errors,
});
