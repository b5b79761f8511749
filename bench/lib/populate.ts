// Fills a data folder with users before the server starts (bench/lib/organization.ts).

import { command } from "../../actors/protocol/decision.ts";
import type { Realm } from "../../src/runtime/realm.ts";
import { askAll, createOrganization, newMember, OWNER } from "./organization.ts";

/** Creates an organization with an owner and `count` members in an empty folder. */
export async function populate(dataFolder: string, count: number): Promise<void> {
  await createOrganization(dataFolder, (realm) => addMembers(realm, count));
}

/** The same, and all members have been present a moment ago. */
export async function populatePresent(dataFolder: string, count: number): Promise<void> {
  await createOrganization(dataFolder, async (realm) => {
    await addMembers(realm, count);
    await askAll(realm, count, (index) => {
      const userId = OWNER.id + 1 + index;
      return command({ actor: "presence", userId }, "presence.report", { status: "active" }, userId);
    });
  });
}

function addMembers(realm: Realm, count: number): Promise<void> {
  return askAll(realm, count, newMember);
}
