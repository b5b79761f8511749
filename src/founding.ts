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
import { finishRealmDraft, newRealmDraft } from "./store/realm-folders.ts";
import { keepIdentity, type RealmIdentity } from "./store/realm-identity.ts";
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
 * The realm exists from the moment at which its draft is renamed: all of it is on disk then, and the owner's key was handed over.
 * A crash before leaves a draft, which the next founding clears; one right after it, a realm that the next start lists.
 */
export async function foundRealm(
  wanted: NewRealm,
  tools: FoundingTools,
  handOver: (key: string) => void,
): Promise<void> {
  const { root, dataDir, clock } = tools;
  const id = root.beginFounding();
  const identity: RealmIdentity = { id, label: wanted.label, hosts: wanted.hosts, createdAt: clock.now() };
  const draft = newRealmDraft(dataDir);
  try {
    refuseTaken(wanted, root);
    const key = newApiKey();
    await fillDraft(draft, wanted, identity, key, tools);
    handOver(key);
    finishRealmDraft(draft, dataDir, id);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    root.abandonFounding();
    throw error;
  }
  root.finishFounding({ ...identity, dueHint: null });
}

function refuseTaken(wanted: NewRealm, root: RootStore): void {
  const taken = root
    .realms()
    .find((entry) => entry.label === wanted.label || entry.hosts.some((host) => wanted.hosts.includes(host)));
  if (taken === undefined) return;
  throw new Error(`there is a realm with the label ${JSON.stringify(taken.label)} or one of these hosts already`);
}

/** @throws Error when the realm could not be made */
async function fillDraft(
  folder: string,
  { label, name, ownerEmail, ownerPassword }: NewRealm,
  identity: RealmIdentity,
  key: string,
  { clock, alarm }: FoundingTools,
): Promise<void> {
  const passwordHash = await new Passwords().hash(ownerPassword ?? randomBytes(24).toString("base64url"));
  if (passwordHash === null) throw new Error("the password could not be hashed");
  const realm = new Realm({ folder, clock, alarm, acceptsWrites: () => true });
  try {
    const apiKeyHash = hashApiKey(key);
    const params = { label, name, ownerEmail, ownerFullName: "Owner", passwordHash, apiKeyHash };
    const founded = await realm.dispatcher.ask(command({ actor: "realm" }, "realm.found", params, null));
    if (founded.kind === "refused") throw new Error(`the realm could not be made: ${founded.msg}`);
    keepIdentity(realm.environment, identity);
  } finally {
    await realm.close();
  }
}
