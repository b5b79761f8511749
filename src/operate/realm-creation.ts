/** Creates an organization (start-up contract): for an empty data folder, and for `cli create-realm`. */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { command } from "../../actors/protocol/decision.ts";
import { offline } from "../durability/journal/durability.ts";
import { hashApiKey } from "../operations/identity/authentication.ts";
import { Passwords } from "../operations/identity/passwords.ts";
import { newSecret } from "../operations/identity/secrets.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Alarm } from "../runtime/dispatcher.ts";
import { Realm } from "../runtime/realm.ts";
import { flushTree } from "../store/folders.ts";
import { finishStagedRealm, stageRealm } from "../store/realm-folders.ts";
import { keepIdentity, type RealmIdentity } from "../store/realm-identity.ts";
import type { RootStore } from "../store/root.ts";

export interface NewRealm {
  readonly label: string;
  readonly hosts: readonly string[];
  readonly name: string;
  readonly ownerEmail: string;
  readonly ownerPassword: string | null;
}

export interface RealmCreationTools {
  readonly dataDir: string;
  readonly root: RootStore;
  readonly clock: Clock;
  readonly alarm: Alarm;
  /** In a cluster: makes this node the owner of the organization. @throws Error if another one has its number or names */
  readonly reserve?: (identity: RealmIdentity) => Promise<void>;
}

/**
 * The realm exists once its draft is renamed: everything is on disk by then, and the owner's key was handed over. A
 * crash before leaves a draft, which the next creation removes; a crash right after leaves a realm that the next start
 * lists.
 * @returns its number
 */
export async function createRealm(
  wanted: NewRealm,
  tools: RealmCreationTools,
  handOver: (key: string) => void,
): Promise<number> {
  const { root, dataDir, clock } = tools;
  const id = root.beginRealmCreation();
  const identity: RealmIdentity = { id, label: wanted.label, hosts: wanted.hosts, createdAt: clock.now() };
  const staged = stageRealm(dataDir);
  try {
    refuseTaken(wanted, root);
    await tools.reserve?.(identity);
    const key = newSecret();
    await fillStagedRealm(staged, wanted, identity, key, tools);
    handOver(key);
    finishStagedRealm(staged, dataDir, id);
  } catch (error) {
    rmSync(staged, { recursive: true, force: true });
    root.abandonRealmCreation();
    throw error;
  }
  root.finishRealmCreation({ ...identity, dueHint: null });
  return id;
}

function refuseTaken(wanted: NewRealm, root: RootStore): void {
  const taken = root
    .realms()
    .find((entry) => entry.label === wanted.label || entry.hosts.some((host) => wanted.hosts.includes(host)));
  if (taken === undefined) return;
  throw new Error(`a realm with the label ${JSON.stringify(taken.label)} or one of these hosts already exists`);
}

/** @throws Error when the realm could not be created */
async function fillStagedRealm(
  folder: string,
  { label, name, ownerEmail, ownerPassword }: NewRealm,
  identity: RealmIdentity,
  key: string,
  { clock, alarm }: RealmCreationTools,
): Promise<void> {
  const passwordHash = ownerPassword === null ? await unknownPassword() : await new Passwords().hash(ownerPassword);
  if (passwordHash === null) throw new Error("the password could not be hashed");
  const realm = new Realm({ folder, clock, alarm, acceptsWrites: () => true, durability: offline, isDraft: true });
  try {
    const apiKeyHash = hashApiKey(key);
    const setupSecret = ownerPassword === null ? newSecret() : null;
    const params = { label, name, ownerEmail, ownerFullName: "Owner", passwordHash, apiKeyHash, setupSecret };
    const created = await realm.dispatcher.ask(command({ actor: "realm" }, "realm.create", params, null));
    if (created.kind === "refused") throw new Error(`the realm could not be created: ${created.msg}`);
    keepIdentity(realm.lmdb, identity);
  } finally {
    await realm.close();
  }
  await flushTree(folder);
}

let unknownHash: Promise<string | null> | null = null;

/**
 * The hash of a random password that is not stored, shared by the organizations that this process creates: hashing
 * takes longer than everything else.
 */
function unknownPassword(): Promise<string | null> {
  unknownHash ??= new Passwords().hash(randomBytes(24).toString("base64url"));
  return unknownHash;
}
