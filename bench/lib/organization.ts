// An organization that is made in a data folder before the server starts, by the same commands and the same actors as the server's:
// people by the thousand would cost a slow password hash each through the API, messages by the million a request each.

import { join } from "node:path";
import { type Command, command } from "../../actors/commands.ts";
import { roles } from "../../schemas/types.ts";
import { foundRealm } from "../../src/founding.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { Realm } from "../../src/runtime/realm.ts";
import { realmFolder } from "../../src/runtime/realm-host.ts";
import { RootStore } from "../../src/store/root.ts";
import { writeZuliprc } from "../../src/zuliprc.ts";

/** Who founds it; `zuliprc` is theirs, where the server would put it. */
export const OWNER = { email: "owner@bench.example.com", id: 2 } as const;
/** The channel that every organization begins with; whoever joins it joins the channel. */
export const GENERAL = 1;

/** Commands that are under way at once; under the server's `queued_commands_max`. */
const AT_ONCE = 1_000;

/** What goes wrong here is wrong with the bench. */
export const alarm = {
  bug(error: unknown) {
    throw error;
  },
  fatal(error: unknown): never {
    throw error;
  },
  warn: () => undefined,
};

/** Founds one in an empty folder, and does what is wanted in it. @returns the folder of its store */
export async function foundOrganization(
  dataFolder: string,
  work: (realm: Realm, folder: string) => Promise<void>,
): Promise<string> {
  const root = RootStore.open(dataFolder);
  let folder = "";
  try {
    root.lock();
    const tools = { dataDir: dataFolder, root, clock: systemClock, alarm };
    const wanted = { label: "", hosts: [], name: "Bench", ownerEmail: OWNER.email, ownerPassword: null };
    await foundRealm(wanted, tools, (key) =>
      writeZuliprc(join(dataFolder, "zuliprc"), { email: OWNER.email, key, site: "http://127.0.0.1:9991" }),
    );
    for (const { id } of root.realms()) {
      folder = realmFolder(dataFolder, id);
      const realm = new Realm({ folder, clock: systemClock, alarm, acceptsWrites: () => true });
      await work(realm, folder);
      await realm.close();
    }
  } finally {
    root.unlock();
    await root.close();
  }
  return folder;
}

/** Asks `count` times, many at once. */
export async function askAll(realm: Realm, count: number, commandOf: (index: number) => Command): Promise<void> {
  for (let first = 0; first < count; first += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - first);
    const asked = Array.from({ length: size }, (_, offset) => realm.dispatcher.ask(commandOf(first + offset)));
    for (const result of await Promise.all(asked)) if (result.kind === "refused") throw new Error(result.msg);
  }
}

/** An account that nobody can log in to. The first one that is made has the id after the owner's. */
export function newMember(index: number): Command {
  const email = `person.${index}@bench.example.com`;
  const params = { email, fullName: `Bench Person ${index}`, passwordHash: "", role: roles.member };
  return command({ actor: "realm" }, "user.create", params, null);
}
