/** Makes an organization (start-up contract): for an empty data folder, and for `cli create-realm`. */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { command } from "../actors/commands.ts";
import { hashApiKey } from "./http/authentication.ts";
import { Passwords } from "./http/passwords.ts";
import { newApiKey } from "./http/secrets.ts";
import type { Clock } from "./runtime/clock.ts";
import type { Alarm } from "./runtime/dispatcher.ts";
import { Realm } from "./runtime/realm.ts";
import { realmFolder } from "./runtime/realm-host.ts";
import type { RootStore } from "./store/root.ts";

export interface NewRealm {
  readonly label: string;
  readonly hosts: readonly string[];
  readonly name: string;
  readonly ownerEmail: string;
  readonly ownerPassword: string | null;
}

export interface FoundingTools {
  readonly dataDir: string;
  readonly root: RootStore;
  readonly clock: Clock;
  readonly alarm: Alarm;
}

/**
 * The realm exists for others only when its row in the root is written: after all of it is on disk, and after the owner's key
 * was handed over. A crash before leaves nothing but a folder that the next attempt clears away.
 */
export async function foundRealm(
  wanted: NewRealm,
  tools: FoundingTools,
  handOver: (key: string) => void,
): Promise<void> {
  const { root, clock, alarm } = tools;
  const id = root.beginFounding();
  const taken = root
    .realms()
    .find((entry) => entry.label === wanted.label || entry.hosts.some((host) => wanted.hosts.includes(host)));
  if (taken !== undefined) {
    root.abandonFounding();
    throw new Error(`there is a realm with the label ${JSON.stringify(taken.label)} or one of these hosts already`);
  }
  rmSync(realmFolder(tools.dataDir, id), { recursive: true, force: true });
  const realm = new Realm({ folder: realmFolder(tools.dataDir, id), clock, alarm, acceptsWrites: () => true });
  const key = newApiKey();
  const passwordHash = await new Passwords().hash(wanted.ownerPassword ?? randomBytes(24).toString("base64url"));
  if (passwordHash === null) throw new Error("the password could not be hashed");
  const founded = await realm.dispatcher.ask(
    command(
      { actor: "realm" },
      "realm.found",
      {
        label: wanted.label,
        name: wanted.name,
        ownerEmail: wanted.ownerEmail,
        ownerFullName: "Owner",
        passwordHash,
        apiKeyHash: hashApiKey(key),
      },
      null,
    ),
  );
  await realm.close();
  if (founded.kind === "refused") throw new Error(`the realm could not be made: ${founded.msg}`);
  handOver(key);
  root.finishFounding({ id, label: wanted.label, hosts: wanted.hosts, createdAt: clock.now(), dueHint: null });
}
