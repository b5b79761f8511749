/**
 * Takes a realm over: a message with the next epoch, which is stored only if it follows the last message of the realm.
 * From then on everything that the earlier owner sends is refused, whatever it believes. No clock is involved.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { limits } from "../../schemas/limits.ts";
import { type ChainHead, emptyChain, headAt } from "./chain.ts";
import { ClusterUnusable } from "./cluster-unusable.ts";
import { encodeEnvelope, hashOf } from "./envelope.ts";
import type { RealmLog } from "./realm-log.ts";

export interface Claimant {
  /** The name of the node. */
  readonly node: string;
  readonly storeVersion: number;
}

/**
 * @returns the claim, with everything that the realm has before it
 * @throws ClusterUnusable when a newer program wrote to the realm, or others append all the time
 */
export async function claimRealm(log: RealmLog, { node, storeVersion }: Claimant): Promise<ChainHead> {
  for (let attempt = 1; attempt <= limits.cluster_claim_attempts_max; attempt++) {
    const last = await log.last();
    const head = last === null ? emptyChain : headAt(last);
    if (head.storeVersion > storeVersion) {
      throw new ClusterUnusable(
        `Organization ${log.realmId} was written by a newer program (store version ${head.storeVersion}, this one knows ${storeVersion}). Upgrade this node.`,
      );
    }
    const epoch = head.epoch + 1;
    const position = head.position + 1;
    const claim = { kind: "claim", storeVersion, epoch, position, part: 0, parts: 1, before: head.hash } as const;
    // Unique, so that no claim of another node passes as this one.
    const nonce = randomBytes(12).toString("base64url");
    const bytes = encodeEnvelope(claim, Buffer.from(JSON.stringify({ node, nonce })));
    const result = await log.append(bytes, head.sequence, `${epoch}-claim-${nonce}`);
    const stored = result.kind === "stored" ? result.sequence : await sequenceOf(log, bytes);
    if (stored !== null) return { sequence: stored, hash: hashOf(bytes), epoch, position: head.position, storeVersion };
    await wait(limits.cluster_retry_ms_min * attempt);
  }
  throw new ClusterUnusable(`Organization ${log.realmId} cannot be taken over: others append to it all the time.`);
}

/** An attempt without an answer may be there. */
async function sequenceOf(log: RealmLog, bytes: Uint8Array): Promise<number | null> {
  const last = await log.last();
  return last !== null && Buffer.compare(last.bytes, bytes) === 0 ? last.sequence : null;
}
