/** Erases a deactivated organization for ever (`erase-realm`), in a running server and in a stopped data folder alike. */

import type { Member } from "../durability/cluster/member.ts";
import { journalFolder } from "../durability/journal/apply-journal.ts";
import type { RealmHost } from "../runtime/realm-host.ts";
import { leftBehind, removeErased } from "../store/erased-realms.ts";
import { areFilesLocked } from "../store/file-hold.ts";
import { realmFolder } from "../store/realm-folders.ts";
import type { RealmEntry, RootStore } from "../store/root.ts";
import { AdminFailure } from "./admin/operation.ts";
import { requireDeactivated } from "./admin/realms.ts";
import { readClosed } from "./closed-store.ts";

type ClosingHost = Pick<RealmHost, "withdraw" | "giveBack">;

export interface ErasureTools {
  readonly dataDir: string;
  readonly root: RootStore;
  /** Null: it has opened no organization. */
  readonly host: ClosingHost | null;
  now(): number;
  /** Told how far it is. */
  readonly progress: (done: number, total: number) => void;
}

/**
 * No request can reach the organization from the moment when the root forgets it. Before that it is closed, so none of
 * its work is running.
 * @throws AdminFailure; then it is as before, unless the message says so
 */
export async function eraseRealm(
  entry: RealmEntry,
  { dataDir, root, host, now, progress }: ErasureTools,
): Promise<void> {
  await requireUnread(dataDir, entry, now());
  if (host !== null) await withdraw(host, entry);
  const erasedAt = now();
  try {
    await requireErasable(dataDir, entry, erasedAt);
    root.eraseRealm(entry, erasedAt);
  } catch (error) {
    host?.giveBack(entry);
    throw error;
  }
  try {
    await removeErased(dataDir, root, { id: entry.id, at: erasedAt, label: entry.label }, progress);
  } catch (error) {
    throw new AdminFailure(
      "output",
      `organization ${entry.label} is erased, but ${leftBehind(dataDir, entry.id, error)}`,
    );
  }
}

/**
 * Erases an organization that this node of a cluster serves, on all nodes (cluster/erasures.ts).
 * @throws AdminFailure; then it is as before, unless the message says so
 */
export async function eraseInCluster(
  entry: RealmEntry,
  member: Member,
  { dataDir, host, now, progress }: Omit<ErasureTools, "host"> & { readonly host: ClosingHost },
): Promise<void> {
  const at = now();
  await requireUnread(dataDir, entry, at);
  const steps = {
    at,
    withdraw: () => withdraw(host, entry),
    check: () => requireErasable(dataDir, entry, at),
    giveBack: () => host.giveBack(entry),
  };
  try {
    await member.erase(entry.id, steps, progress);
  } catch (error) {
    const { name, message } = error as Error;
    if (name === "ClusterUnusable") throw new AdminFailure("refused", message);
    if (name !== "ErasureUnfinished") throw error;
    throw new AdminFailure(
      "output",
      `organization ${entry.label} is erased, but not everything of it is removed yet (${message}): the nodes try again`,
    );
  }
}

/** @throws AdminFailure; then nothing has changed */
async function withdraw(host: Pick<ClosingHost, "withdraw">, entry: RealmEntry): Promise<void> {
  if (await host.withdraw(entry)) return;
  throw new AdminFailure(
    "busy",
    `organization ${entry.label} cannot be closed: a request or a delivery uses it, or the disk is full. Try again`,
  );
}

/** Somebody may have reactivated it, or begun a backup, before it was closed. @throws AdminFailure */
async function requireErasable(dataDir: string, entry: RealmEntry, now: number): Promise<void> {
  await readClosed(realmFolder(dataDir, entry.id), (rows) => requireDeactivated(entry, rows));
  await requireUnread(dataDir, entry, now);
}

/** A backup or a base of the archive that has begun with it would fail. */
async function requireUnread(dataDir: string, { id }: RealmEntry, now: number): Promise<void> {
  const folders = [journalFolder(dataDir), realmFolder(dataDir, id)];
  for (const folder of folders) {
    if (await areFilesLocked(folder, now))
      throw new AdminFailure("busy", "a copy of the data is being made (backup, check or archive): try again");
  }
}
