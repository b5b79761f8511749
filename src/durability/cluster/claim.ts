/**
 * Takes a realm over: a message with the next epoch, which is stored only if it follows the last message of the realm.
 * From then on everything that the earlier owner sends is refused, whatever it believes. No clock is involved.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { limits } from "../../../schemas/limits.ts";
import { JournalDamaged, type RecordNumber } from "../journal/journal.ts";
import { ClusterUnusable } from "./cluster-unusable.ts";
import { decodeEnvelope, type Envelope, encodeEnvelope, hashOf } from "./envelope.ts";
import { type ChainHead, emptyChain, headAt, type StreamMessage } from "./log-chain.ts";
import type { RealmLog } from "./realm-log.ts";

export interface Claimant {
  /** The name of the node. */
  readonly node: string;
  readonly storeVersion: number;
}

/** The body of a claim. */
interface ClaimNote {
  readonly node: string;
  /** Unique, so that no claim of another node passes as this one. */
  readonly nonce: string;
  /** How many records follow that hold the whole store: the realm joins the cluster. */
  readonly base?: number;
  /** The organization was erased: no claim ever follows this one. */
  readonly isErasure?: true;
}

export interface ClaimPlan {
  /** For a realm that joins: the last turn of its store, and the number of records that its rows need. */
  readonly joins?: { readonly turn: RecordNumber; readonly base: number };
  readonly isErasure?: boolean;
  /** The last message as it was a moment ago: tried first. */
  readonly behind?: ChainHead;
}

/**
 * @returns the claim, with everything that the realm has before it
 * @throws ClusterUnusable when a newer program wrote to the realm, or others append all the time
 */
export async function claimRealm(log: RealmLog, claimant: Claimant, plan: ClaimPlan = {}): Promise<ChainHead> {
  return (await claimAgain(log, claimant, plan, () => true)) as ChainHead;
}

/**
 * Claims a realm in the name of an entry of the directory.
 * @param epoch another one means that somebody else has claimed the realm since
 * @returns null if the claim cannot have this epoch
 * @throws as `claimRealm` does
 */
export function claimEpoch(
  log: RealmLog,
  claimant: Claimant,
  epoch: number,
  plan: ClaimPlan = {},
): Promise<ChainHead | null> {
  return claimAgain(log, claimant, plan, (head) => head.epoch + 1 === epoch);
}

async function claimAgain(
  log: RealmLog,
  claimant: Claimant,
  plan: ClaimPlan,
  mayFollow: (head: ChainHead) => boolean,
): Promise<ChainHead | null> {
  for (let attempt = 1; attempt <= limits.cluster_claim_attempts_max; attempt++) {
    const head = attempt === 1 && plan.behind !== undefined ? plan.behind : await headOf(log);
    if (!mayFollow(head)) return null;
    const claim = await claimBehind(log, claimant, head, plan);
    if (claim !== null) return claim;
    await wait(limits.cluster_retry_ms_min * attempt);
  }
  throw new ClusterUnusable(`Organization ${log.realmId} cannot be taken over: others append to it all the time.`);
}

/**
 * The last claim of an organization that the directory lists as erased. It stays, so that whatever an earlier owner still
 * sends does not follow the last message and is refused.
 * @returns its number
 */
export async function claimErasure(log: RealmLog, claimant: Claimant): Promise<number> {
  for (let attempt = 1; attempt <= limits.cluster_claim_attempts_max; attempt++) {
    const last = await log.last();
    if (last !== null && isErasure(last)) return last.sequence;
    const head = last === null ? emptyChain : headAt(last);
    const claim = await claimBehind(log, claimant, head, { isErasure: true });
    if (claim !== null) return claim.sequence;
    await wait(limits.cluster_retry_ms_min * attempt);
  }
  throw new ClusterUnusable(`Organization ${log.realmId} cannot be erased: others append to it all the time.`);
}

/** Whether the stream says that the organization was erased. */
export async function isErased(log: RealmLog): Promise<boolean> {
  const last = await log.last();
  return last !== null && isErasure(last);
}

function isErasure({ bytes }: StreamMessage): boolean {
  const envelope = decodeEnvelope(bytes);
  return envelope.kind === "claim" && claimNoteIn(envelope).isErasure === true;
}

export async function headOf(log: RealmLog): Promise<ChainHead> {
  const last = await log.last();
  return last === null ? emptyChain : headAt(last);
}

/** @returns null if the head is not the last message any more */
export async function claimBehind(
  log: RealmLog,
  claimant: Claimant,
  head: ChainHead,
  { joins, isErasure: erases = false }: ClaimPlan = {},
): Promise<ChainHead | null> {
  const { node, storeVersion } = claimant;
  requireKnownVersion(log.realmId, head, claimant);
  const epoch = head.epoch + 1;
  const before = Math.max(head.position, joins?.turn ?? 0);
  const nonce = randomBytes(12).toString("base64url");
  const note: ClaimNote = {
    node,
    nonce,
    ...(joins === undefined ? {} : { base: joins.base }),
    ...(erases ? { isErasure: true } : {}),
  };
  const bytes = encodeEnvelope(
    { kind: "claim", storeVersion, epoch, position: before + 1, part: 0, parts: 1, before: head.hash },
    Buffer.from(JSON.stringify(note)),
  );
  const stored = await sent(log, bytes, head.sequence, `${epoch}-claim-${nonce}`);
  return stored === null ? null : { sequence: stored, hash: hashOf(bytes), epoch, position: before, storeVersion };
}

/** @throws ClusterUnusable */
export function requireKnownVersion(realmId: number, head: ChainHead, { storeVersion }: Claimant): void {
  if (head.storeVersion <= storeVersion) return;
  throw new ClusterUnusable(
    `Organization ${realmId} was written by a newer program (store version ${head.storeVersion}, this one knows ${storeVersion}). Upgrade this node.`,
  );
}

/** @throws JournalDamaged when the envelope is no claim */
export function claimNoteIn({ kind, body }: Envelope): ClaimNote {
  if (kind !== "claim") throw new JournalDamaged(`A message of kind ${kind} is where a claim should be.`);
  return JSON.parse(Buffer.from(body).toString("utf8")) as ClaimNote;
}

/**
 * An attempt without an answer may be stored, now or later, and another claim may follow it. The next attempt has the
 * same id, so its answer is that of the first one.
 * @returns null if it is not stored
 */
async function sent(log: RealmLog, bytes: Uint8Array, after: number, id: string): Promise<number | null> {
  for (let attempt = 1; attempt <= limits.cluster_claim_attempts_max; attempt++) {
    const result = await log.append(bytes, after, id);
    if (result.kind === "stored") return result.sequence;
    if (result.kind === "refused") break;
    await wait(limits.cluster_retry_ms_min);
  }
  const last = await log.last();
  return last !== null && Buffer.compare(last.bytes, bytes) === 0 ? last.sequence : null;
}
