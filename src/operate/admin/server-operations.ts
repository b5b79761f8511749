/** Operations on the whole server: how it is, and which organizations it has. */
import { statfsSync } from "node:fs";
import { isEmailAddress } from "../../../domain/text.ts";
import { limits } from "../../../schemas/limits.ts";
import { programVersion } from "../../../schemas/server.ts";
import type { Lmdb } from "../../store/lmdb.ts";
import { storeVersion } from "../../store/migrations.ts";
import type { RealmEntry } from "../../store/root.ts";
import { AdminFailure, defineOperation, emailParam } from "./operation.ts";

export const statusOperation = defineOperation({
  name: "status",
  summary: "How the server is: whether it runs, since when, how far the disk is behind, and how much space is left.",
  params: {},
  async run(_params, ports) {
    const { bavail, blocks, bsize } = statfsSync(ports.dataDir);
    const realms = ports.realms();
    return {
      is_running: ports.server() !== null,
      server: ports.server(),
      program_version: programVersion,
      store_version: storeVersion,
      accepts_writes: ports.acceptsWrites(),
      disk_bytes: blocks * bsize,
      disk_free_bytes: bavail * bsize,
      realms: realms.length,
      open_realms: realms.filter((entry) => ports.isOpen(entry) === true).length,
    };
  },
});

export const sendTestMailOperation = defineOperation({
  name: "send-test-mail",
  summary: "Sends an email at once, and says what the mail server answered.",
  params: { to: emailParam },
  async run({ to }, ports) {
    if (!isEmailAddress(to, limits.email_code_points_max))
      throw new AdminFailure("usage", "that is not a valid email address");
    return { taken_by: await ports.sendTestMail(to) };
  },
});

export interface ListedRealm {
  readonly id: number;
  readonly label: string;
  readonly name: string;
  readonly hosts: readonly string[];
  readonly createdAt: string;
  readonly isActive: boolean;
  readonly users: number;
  readonly messages: number;
  readonly deadLetters: number;
}

export const listRealmsOperation = defineOperation({
  name: "list-realms",
  summary: "Lists all organizations with their sizes.",
  params: {},
  async run(_params, ports, progress) {
    const entries = ports.realms();
    const realms: ListedRealm[] = [];
    for (const entry of entries) {
      realms.push(await ports.read(entry, (lmdb) => listed(entry, lmdb)));
      progress(realms.length, entries.length);
    }
    return { realms };
  },
});

function listed({ id, label, hosts, createdAt }: RealmEntry, lmdb: Lmdb): ListedRealm {
  const realm = lmdb.get("realm", "realm");
  return {
    id,
    label,
    name: realm?.name ?? "",
    hosts,
    createdAt: new Date(createdAt).toISOString(),
    isActive: realm?.deactivatedAt === null,
    users: lmdb.count("users"),
    messages: lmdb.count("messages"),
    deadLetters: lmdb.count("deadLetters"),
  };
}

export function describeSize(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const;
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`;
}
