/** Finds what an operation names: organizations, accounts. */
import type { Command, CommandType, ReplyOf } from "../../../actors/protocol/decision.ts";
import { type Role, roles } from "../../../schemas/types.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { Realm } from "../../runtime/realm.ts";
import type { Lmdb } from "../../store/lmdb.ts";
import type { RealmEntry } from "../../store/root.ts";
import { oneLine, refusedBy } from "./failures.ts";
import { AdminFailure } from "./operation.ts";
import type { AdminPorts } from "./ports.ts";

/** @throws AdminFailure */
export function entryOf(ports: AdminPorts, label = ""): RealmEntry {
  const all = ports.realms();
  const entry = label === "" ? all[0] : all.find((one) => one.label === label);
  if (entry === undefined) throw new AdminFailure("refused", `there is no realm ${JSON.stringify(label)}`);
  return entry;
}

export function withRealm<T>(
  ports: AdminPorts,
  label: string | undefined,
  work: (realm: Realm) => Promise<T>,
): Promise<T> {
  return ports.withRealm(entryOf(ports, label), work);
}

/** @throws AdminFailure */
export function accountOf(realm: Realm, email: string): UserRecord {
  const user = realm.view.users.byEmail(email);
  if (user === undefined) throw new AdminFailure("refused", `there is no account ${oneLine(email)}`);
  return user;
}

/** @throws AdminFailure when an actor refuses the command */
export async function ask<T extends CommandType>(realm: Realm, command: Command<T>): Promise<ReplyOf<T>> {
  const reply = await realm.dispatcher.ask(command);
  if (reply.kind === "refused") throw refusedBy(reply);
  return reply.answer;
}

/** @throws AdminFailure when the organization is open to its users */
export function requireDeactivated({ label }: RealmEntry, rows: Lmdb): void {
  if ((rows.get("realm", "realm")?.deactivatedAt ?? null) !== null) return;
  throw new AdminFailure("refused", `organization ${label} is active: run deactivate-realm ${label} first`);
}

export function roleName(role: Role): string {
  return Object.entries(roles).find(([, value]) => value === role)?.[0] ?? String(role);
}
