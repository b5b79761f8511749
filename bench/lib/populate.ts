// Fills a data folder with people before the server starts: each account through the API would cost a slow password hash. The same
// commands are decided by the same actors; nobody can log in to these accounts.

import { join } from "node:path";
import { command } from "../../actors/commands.ts";
import { roles } from "../../schemas/types.ts";
import { foundRealm } from "../../src/founding.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { Realm } from "../../src/runtime/realm.ts";
import { realmFolder } from "../../src/runtime/realm-host.ts";
import { RootStore } from "../../src/store/root.ts";
import { writeZuliprc } from "../../src/zuliprc.ts";

/** Commands that are under way at once; under the server's `queued_commands_max`. */
const AT_ONCE = 1_000;
const OWNER = "owner@bench.example.com";

/** What goes wrong here is wrong with the bench. */
const alarm = {
  bug(error: unknown) {
    throw error;
  },
  fatal(error: unknown): never {
    throw error;
  },
};

/** Makes an organization with an owner and `count` members in an empty folder; its `zuliprc` is where the server would put it. */
export async function populate(dataFolder: string, count: number): Promise<void> {
  const root = RootStore.open(dataFolder);
  try {
    root.lock();
    const tools = { dataDir: dataFolder, root, clock: systemClock, alarm };
    const wanted = { label: "", hosts: [], name: "Bench", ownerEmail: OWNER, ownerPassword: null };
    await foundRealm(wanted, tools, (key) =>
      writeZuliprc(join(dataFolder, "zuliprc"), { email: OWNER, key, site: "http://127.0.0.1:9991" }),
    );
    for (const { id } of root.realms()) await addPeople(realmFolder(dataFolder, id), count);
  } finally {
    root.unlock();
    await root.close();
  }
}

async function addPeople(folder: string, count: number): Promise<void> {
  const realm = new Realm({ folder, clock: systemClock, alarm, acceptsWrites: () => true });
  for (let first = 0; first < count; first += AT_ONCE) {
    const size = Math.min(AT_ONCE, count - first);
    const made = Array.from({ length: size }, (_, offset) => realm.dispatcher.ask(newMember(first + offset)));
    for (const result of await Promise.all(made)) if (result.kind === "refused") throw new Error(result.msg);
  }
  await realm.close();
}

function newMember(index: number) {
  const email = `person.${index}@bench.example.com`;
  const params = { email, fullName: `Bench Person ${index}`, passwordHash: "", role: roles.member };
  return command({ actor: "realm" }, "user.create", params, null);
}
