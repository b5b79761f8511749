/** Domains of the organization (public API: /realm/domains). Their names are compared in lower case. */
import { command } from "../../../actors/commands.ts";
import {
  createRealmDomain,
  deleteRealmDomain,
  getRealmDomains,
  updateRealmDomain,
} from "../../../schemas/realm-domains.ts";
import { listRealmDomains } from "../../queries/realm-domains.ts";
import { bind, callerOf } from "../../runtime/calls.ts";
import { ok } from "../../runtime/entry.ts";

const realmActor = { actor: "realm" } as const;

function domainOf({ domain }: { readonly domain: string }): string {
  return domain.trim().toLowerCase();
}

export const realmDomainRoutes = [
  bind(getRealmDomains, ({ realm }) => ok({ domains: listRealmDomains(realm.view) })),

  bind(createRealmDomain, (call) => {
    const params = { domain: domainOf(call.params), allowsSubdomains: call.params.allow_subdomains };
    return call.realm.dispatcher.ask(command(realmActor, "realm-domain.add", params, callerOf(call).id), call.claim);
  }),

  bind(updateRealmDomain, (call) => {
    const params = { domain: domainOf(call.params), allowsSubdomains: call.params.allow_subdomains };
    return call.realm.dispatcher.ask(command(realmActor, "realm-domain.update", params, callerOf(call).id), call.claim);
  }),

  bind(deleteRealmDomain, (call) => {
    const params = { domain: domainOf(call.params) };
    return call.realm.dispatcher.ask(command(realmActor, "realm-domain.remove", params, callerOf(call).id), call.claim);
  }),
];
