/** Realm domains in the tests that cover every area. */
import { command } from "../../actors/protocol/decision.ts";
import { defineCases } from "./area.ts";
import { realm } from "./draws.ts";
import { reduced } from "./lists.ts";
import { must } from "./make.ts";

export const realmDomainsCases = defineCases({
  audiences: {
    accounts: ["get-realm-domains", "create-realm-domain", "update-realm-domain", "delete-realm-domain"],
  },
  draws: {
    "realm-domain.add": (world) => {
      const params = { domain: `${world.name()}.example`, allowsSubdomains: world.flip() };
      return command(realm, "realm-domain.add", params, world.administrator());
    },
    "realm-domain.update": (world) => {
      const params = { domain: world.row("realmDomains")?.key ?? "none.example", allowsSubdomains: world.flip() };
      return command(realm, "realm-domain.update", params, world.administrator());
    },
    "realm-domain.remove": (world) => {
      const params = { domain: world.row("realmDomains")?.key ?? "none.example" };
      return command(realm, "realm-domain.remove", params, world.administrator());
    },
  },
  lists: {
    appliers: {
      realm_domains: reduced,
    },
    keys: { realm_domains: "any order" },
    play: async (owner) => {
      for (const domain of ["one.example", "two.example"]) {
        await must(owner.post("/realm/domains", { domain, allow_subdomains: false }));
        await must(owner.patch(`/realm/domains/${domain}`, { allow_subdomains: true }));
      }
      await must(owner.delete("/realm/domains/one.example"));
    },
  },
  state: { realm_domains: ["realm_domains"] },
  restricted: {
    owners: [
      {
        operationId: "create-realm-domain",
        method: "POST",
        path: "/realm/domains",
        params: { domain: "example.org", allow_subdomains: false },
      },
    ],
  },
});
