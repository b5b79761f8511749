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
  await createOrganization(dataFolder, (realm) => addPresent(realm, count));
}

export interface Populace {
  readonly people: number;
  readonly channels: number;
  /** Subscribers of each channel, the owner among them. */
  readonly subscribers: number;
}

/** The same with channels, whose subscribers are spread over all people. */
export async function populateChannels(dataFolder: string, { people, channels, subscribers }: Populace): Promise<void> {
  await createOrganization(dataFolder, async (realm) => {
    await addPresent(realm, people);
    for (let index = 0; index < channels; index += 1) {
      const others = Array.from(
        { length: subscribers - 1 },
        (_, at) => OWNER.id + 1 + ((index * 37 + at * 13) % people),
      );
      const params = { ...plainChannel, name: `channel ${index}`, subscriberIds: [OWNER.id, ...new Set(others)] };
      await askAll(realm, 1, () => command({ actor: "realm" }, "channel.create", params, OWNER.id));
      await realm.dispatcher.idle();
    }
  });
}

const plainChannel = {
  description: "",
  renderedDescription: "",
  isPrivate: false,
  isWebPublic: false,
  isHistoryPublic: null,
  isDefault: false,
  messageRetentionDays: null,
  folderId: null,
  topicsPolicy: "inherit",
  groups: {},
  announce: false,
  isWebPublicAllowed: false,
} as const;

async function addPresent(realm: Realm, count: number): Promise<void> {
  await addMembers(realm, count);
  await askAll(realm, count, (index) => {
    const userId = OWNER.id + 1 + index;
    return command({ actor: "presence", userId }, "presence.report", { status: "active" }, userId);
  });
}

function addMembers(realm: Realm, count: number): Promise<void> {
  return askAll(realm, count, newMember);
}
