/** Domains of the organization (public API: /realm/domains). Domain names are compared in lower case. */
import { command } from "../../../actors/protocol/decision.ts";
import { realmDomainBody, realmDomainsOf } from "../../../domain/realm-domains.ts";
import type { View } from "../../../domain/view.ts";
import {
  createRealmDomain,
  deleteRealmDomain,
  getRealmDomains,
  updateRealmDomain,
} from "../../../schemas/realm-domains.ts";
import type { Section } from "../../queries/state-section.ts";
import { ok } from "../../runtime/results.ts";
import { bind, requireCaller } from "../calls.ts";

function listRealmDomains(view: View) {
  return realmDomainsOf(view).map(realmDomainBody);
}

export const realmDomainsState: Section<"realm_domains"> = (view) => ({ realm_domains: listRealmDomains(view) });

const realmActor = { actor: "realm" } as const;

function domainOf({ domain }: { readonly domain: string }): string {
  return domain.trim().toLowerCase();
}

export const realmDomainRoutes = [
  bind(getRealmDomains, ({ realm }) => ok({ domains: listRealmDomains(realm.view) })),

  bind(createRealmDomain, (call) => {
    const params = { domain: domainOf(call.params), allowsSubdomains: call.params.allow_subdomains };
    return call.realm.dispatcher.ask(
      command(realmActor, "realm-domain.add", params, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(updateRealmDomain, (call) => {
    const params = { domain: domainOf(call.params), allowsSubdomains: call.params.allow_subdomains };
    return call.realm.dispatcher.ask(
      command(realmActor, "realm-domain.update", params, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(deleteRealmDomain, (call) => {
    const params = { domain: domainOf(call.params) };
    return call.realm.dispatcher.ask(
      command(realmActor, "realm-domain.remove", params, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),
];
