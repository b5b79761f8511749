/** Operations on one organization, and new ones. */
import { Type } from "typebox";
import { command } from "../../../actors/protocol/decision.ts";
import { checkCharacters, isEmailAddress } from "../../../domain/text.ts";
import { limits } from "../../../schemas/limits.ts";
import { AdminFailure, defineOperation, realmParam } from "./operation.ts";
import type { AdminPorts, WantedRealm } from "./ports.ts";
import { ask, entryOf, requireDeactivated, withRealm } from "./realms.ts";

const realm = { actor: "realm" } as const;

const wantedRealm = Type.Object(
  {
    label: Type.String({ description: "first label of its hosts: lower-case letters, digits and dashes" }),
    email: Type.String({ description: "email address of its owner" }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: "by default the label" })),
    hosts: Type.Optional(Type.Array(Type.String(), { maxItems: 100, description: "exact hosts beside the label" })),
    site: Type.Optional(Type.String({ maxLength: 1000, description: "address to write into its zuliprc" })),
  },
  { additionalProperties: false },
);

export interface CreatedRealm {
  readonly label: string;
  /** Where the credentials of its owner are. */
  readonly zuliprc: string;
}

export const createRealmsOperation = defineOperation({
  name: "create-realms",
  summary:
    "Creates organizations, one after the other. The credentials of each owner are in DATA_DIR/zuliprc.<label>. All parameters are checked before the first one is created.",
  params: {
    realms: Type.Array(wantedRealm, { minItems: 1, maxItems: limits.admin_realms_created_max }),
    skip_existing: Type.Optional(Type.Boolean({ description: "leave out labels that exist" })),
  },
  async run({ realms, skip_existing: skips = false }, ports, progress) {
    const wanted = realms.map(checked);
    const existing = new Set(ports.realms().map(({ label }) => label));
    const missing = wanted.filter(({ label }) => !skips || !existing.has(label));
    requireFree(missing, ports);
    const created: CreatedRealm[] = [];
    for (const one of missing) {
      try {
        created.push({ label: one.label, zuliprc: await ports.createRealm(one) });
      } catch (error) {
        if (created.length === 0) throw error;
        const why = error instanceof Error ? error.message : String(error);
        throw new AdminFailure(
          "refused",
          `${created.length} of ${missing.length} were created, then: ${one.label}: ${why}`,
        );
      }
      progress(created.length, missing.length);
    }
    return { created, skipped: wanted.length - missing.length };
  },
});

interface RequestedRealm {
  readonly label: string;
  readonly email: string;
  readonly name?: string;
  readonly hosts?: readonly string[];
  readonly site?: string;
}

function checked({ label, email, name, hosts, site }: RequestedRealm): WantedRealm {
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label))
    throw new AdminFailure("usage", `${JSON.stringify(label)}: a label has only lower-case letters, digits and dashes`);
  if (!isEmailAddress(email, limits.email_code_points_max))
    throw new AdminFailure("usage", `${label}: ${JSON.stringify(email)} is not a valid email address`);
  const badName = checkCharacters("its name", name ?? label);
  if (badName !== null) throw new AdminFailure("usage", `${label}: ${badName.msg}`);
  if (site !== undefined && !/^https?:\/\/[^\s]+$/.test(site))
    throw new AdminFailure(
      "usage",
      `${label}: ${JSON.stringify(site)} is not an address such as https://chat.example.org`,
    );
  return { label, hosts: (hosts ?? []).map(normalHost), name: name ?? label, ownerEmail: email, site: site ?? null };
}

/** The form in which Host headers are compared: lower case, without port (D4). */
function normalHost(host: string): string {
  const normal = host.toLowerCase().replace(/:\d+$/, "");
  if (!/^[a-z0-9.-]+$/.test(normal)) throw new AdminFailure("usage", `${JSON.stringify(host)} is not a host name`);
  return normal;
}

/** Neither an existing organization nor another one of the list has the label or a host. */
function requireFree(wanted: readonly WantedRealm[], ports: AdminPorts): void {
  const labels = new Set(ports.realms().map(({ label }) => label));
  const taken = new Set(ports.realms().flatMap(({ hosts }) => hosts));
  for (const { label, hosts } of wanted) {
    const isTaken = labels.has(label) || hosts.some((host) => taken.has(host));
    if (isTaken)
      throw new AdminFailure(
        "refused",
        `a realm with the label ${JSON.stringify(label)} or one of its hosts already exists`,
      );
    labels.add(label);
    for (const host of hosts) taken.add(host);
  }
}

export const deactivateRealmOperation = defineOperation({
  name: "deactivate-realm",
  summary: "Deactivates an organization: requests with its keys are rejected, and connections end. Nothing is deleted.",
  params: realmParam,
  async run({ realm: label }, ports) {
    await withRealm(ports, label, (opened) => ask(opened, command(realm, "realm.deactivate", {}, null)));
    return {};
  },
});

export const reactivateRealmOperation = defineOperation({
  name: "reactivate-realm",
  summary: "Reactivates a deactivated organization.",
  params: realmParam,
  async run({ realm: label }, ports) {
    await withRealm(ports, label, (opened) => ask(opened, command(realm, "realm.reactivate", {}, null)));
    return {};
  },
});

export const eraseRealmOperation = defineOperation({
  name: "erase-realm",
  summary:
    "Removes a deactivated organization and all its files for ever. The first organization cannot be erased. Backups and archives that were made before keep it.",
  params: {
    realm: Type.String({ minLength: 1, maxLength: 63, description: "label of the organization" }),
    confirm: Type.String({ maxLength: 63, description: "the same label once more: this cannot be undone" }),
  },
  async run({ realm: label, confirm }, ports, progress) {
    const entry = entryOf(ports, label);
    if (confirm !== label)
      throw new AdminFailure("usage", `to erase organization ${label}, confirm it with its label: ${label}`);
    // Hosts that belong to no organization reach the first one, so another one must not take its place.
    if (entry.id === ports.realms()[0]?.id)
      throw new AdminFailure("refused", "the first organization cannot be erased: stop the server and remove DATA_DIR");
    await ports.read(entry, (rows) => requireDeactivated(entry, rows));
    await ports.eraseRealm(entry, progress);
    return { realm_id: entry.id };
  },
});

export const rebuildSearchOperation = defineOperation({
  name: "rebuild-search",
  summary: "Discards the search index; the server builds it again, and searches say meanwhile how far they looked.",
  params: realmParam,
  async run({ realm: label }, ports) {
    await withRealm(ports, label, (opened) => ask(opened, command(realm, "search.rebuild", {}, null)));
    return {};
  },
});

export const confirmRetentionOperation = defineOperation({
  name: "confirm-retention",
  summary: "Lets message retention continue that is held because the clock jumped: the clock is right.",
  params: realmParam,
  async run({ realm: label }, ports) {
    const wasHeld = await withRealm(ports, label, async (opened) => {
      // In a folder that was just opened, overdue timers come first.
      if (ports.server() === null) await opened.dispatcher.idle();
      opened.dispatcher.trustClock();
      const isPaused = opened.lmdb.get("snapshots", "retention")?.state === "held";
      await ask(opened, command({ actor: "retention" }, "retention.confirm", {}, null));
      return isPaused;
    });
    return { was_held: wasHeld };
  },
});
