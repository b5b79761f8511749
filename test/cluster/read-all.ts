/** What the stream has of a realm, checked message by message. */
import { LogChain } from "../../src/durability/cluster/log-chain.ts";
import type { RealmLog } from "../../src/durability/cluster/realm-log.ts";
import type { Recorded } from "../../src/durability/journal/journal.ts";

export async function readAll(log: RealmLog): Promise<Recorded[]> {
  const last = await log.last();
  const chain = new LogChain(log.realmId, null);
  const found: Recorded[] = [];
  if (last !== null) for await (const message of log.read(1, last.sequence)) found.push(...chain.take(message));
  return found;
}
