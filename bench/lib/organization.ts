// Creates an organization in a data folder before the server starts, with the server's own commands and actors. Through
// the API, each of thousands of users would cost a slow password hash, and each of millions of messages a request.

import { join } from "node:path";
import { type Command, command } from "../../actors/protocol/decision.ts";
import { roles } from "../../schemas/types.ts";
import { offline } from "../../src/durability/journal/durability.ts";
import { createRealm } from "../../src/operate/realm-creation.ts";
import { writeZuliprc } from "../../src/operate/zuliprc.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { Realm } from "../../src/runtime/realm.ts";
import { realmFolder } from "../../src/runtime/realm-host.ts";
import { RootStore } from "../../src/store/root.ts";

/** The owner; their `zuliprc` is written where the server would write it. */
export const OWNER = { email: "owner@bench.example.com", id: 2 } as const;
/** The default channel, which every new user joins. */
export const GENERAL = 1;

const SITE = "http://127.0.0.1:9991";

/** Concurrent commands; below the server's `queued_commands_max`. */
const AT_ONCE = 1_000;

/** An error here is a bug of the bench. */
export const alarm = {
  bug(error: unknown) {
    throw error;
  },
  fatal(error: unknown): never {
    throw error;
  },
  warn: () => undefined,
};

/** Creates an organization in an empty folder and fills it. @returns the folder of its store */
export async function createOrganization(
  dataFolder: string,
  work: (realm: Realm, folder: string) => Promise<void>,
): Promise<string> {
  return await withRoot(dataFolder, async (root) => {
    await createOne(root, dataFolder, "");
    let folder = "";
    for (const { id } of root.realms()) {
      folder = realmFolder(dataFolder, id);
      const realm = new Realm({ folder, clock: systemClock, alarm, acceptsWrites: () => true, durability: offline });
      await work(realm, folder);
      await realm.close();
    }
    return folder;
  });
}

/** Creates `count` organizations in an empty folder, which answer at `hostOf(index)`. @returns their owners' keys */
export async function createOrganizations(dataFolder: string, count: number): Promise<readonly string[]> {
  return await withRoot(dataFolder, async (root) => {
    const keys: string[] = [];
    for (let index = 0; index < count; index += 1) keys.push(await createOne(root, dataFolder, labelOf(index)));
    return keys;
  });
}

/** The host name that selects an organization. */
export function hostOf(index: number): string {
  return `${labelOf(index)}.bench.example.com`;
}

function labelOf(index: number): string {
  return `organization-${index}`;
}

/** Opens the root of a data folder for the duration of `work`. */
async function withRoot<T>(dataFolder: string, work: (root: RootStore) => Promise<T>): Promise<T> {
  const root = RootStore.open(dataFolder);
  try {
    root.lock();
    return await work(root);
  } finally {
    root.unlock();
    await root.close();
  }
}

/** Creates an organization; the key of the first one's owner is written to `zuliprc`. @returns the owner's key */
async function createOne(root: RootStore, dataFolder: string, label: string): Promise<string> {
  const isFirst = root.realms().length === 0;
  const tools = { dataDir: dataFolder, root, clock: systemClock, alarm };
  const wanted = { label, hosts: [], name: "Bench", ownerEmail: OWNER.email, ownerPassword: null };
  let ownerKey = "";
  await createRealm(wanted, tools, (key) => {
    ownerKey = key;
    if (isFirst) writeZuliprc(join(dataFolder, "zuliprc"), { email: OWNER.email, key, site: SITE });
  });
  return ownerKey;
}

/** Sends `count` commands, many at once. */
export async function askAll(realm: Realm, count: number, commandOf: (index: number) => Command): Promise<void> {
  for (let first = 0; first < count; first += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - first);
    const pending = Array.from({ length: size }, (_, offset) => realm.dispatcher.ask(commandOf(first + offset)));
    for (const result of await Promise.all(pending)) if (result.kind === "refused") throw new Error(result.msg);
  }
}

/** The command that creates an account without a password. The first account has the id after the owner's. */
export function newMember(index: number): Command {
  const email = `person.${index}@bench.example.com`;
  const params = { email, fullName: `Bench Person ${index}`, passwordHash: "", role: roles.member };
  return command({ actor: "realm" }, "user.create", params, null);
}
