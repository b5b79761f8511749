/**
 * Messages on their way: shown at once, and replaced by the event of the stored message. One that fails stays, with the
 * reason, until the person sends it again or drops it. A repetition has the same key, so the server stores it once.
 */
import { effect, signal } from "@preact/signals";
import type { Events } from "../../client/src/exports.ts";
import { conversationKey } from "../../client/src/state/index.ts";
import { ConnectionError, client, explain } from "./api.ts";
import { keep, readKept } from "./kept.ts";
import { forgetTypist } from "./live.ts";
import { serverNow } from "./server-clock.ts";
import { myId } from "./store.ts";

export type Destination =
  | { readonly kind: "topic"; readonly channelId: number; readonly topic: string }
  | { readonly kind: "direct"; readonly userIds: readonly number[] };

export interface PendingMessage {
  readonly localId: string;
  readonly to: Destination;
  readonly content: string;
  readonly at: number;
  /** The queue at the first attempt: a repetition under the same key must be the same request. */
  readonly queueId: string | undefined;
  /** Null while it is on its way. */
  readonly problem: string | null;
}

const storageKey = "pending";
export const pending = signal<readonly PendingMessage[]>(readPending());

/** Those that were on their way when the page was left: whether they arrived is unknown. */
function readPending(): readonly PendingMessage[] {
  const kept = readKept(storageKey);
  const problem = "The page was left before the server answered. Send it again; it will not be sent twice.";
  return Array.isArray(kept) ? (kept as PendingMessage[]).map((one) => ({ ...one, problem })) : [];
}

export function watchPending(): void {
  effect(() => keep(storageKey, pending.value));
}

/** Another person writes now. */
export function forgetPending(): void {
  pending.value = [];
}

/** The page's own part of local ids. */
const origin = Math.floor(Math.random() * 2 ** 32).toString(36);
let count = 0;
let findQueue: () => string | undefined = () => undefined;

/** @param find the queue whose events settle messages */
export function settleBy(find: () => string | undefined): void {
  findQueue = find;
}

function change(localId: string, problem: string | null): void {
  pending.value = pending.peek().map((one) => (one.localId === localId ? { ...one, problem } : one));
}

export function dropPending(localId: string): void {
  pending.value = pending.peek().filter((one) => one.localId !== localId);
}

/** The event of a message that was sent here. */
export function settlePending(event: Events["message"]): void {
  forgetTypist(conversationKey(myId.peek(), event.message), event.message.sender_id);
  if (event.local_message_id !== undefined) dropPending(event.local_message_id);
}

/** @returns whether the server has it */
export function send(to: Destination, content: string): Promise<boolean> {
  const localId = `${origin}-${++count}`;
  const message = { localId, to, content, at: serverNow() / 1000, queueId: findQueue(), problem: null };
  pending.value = [...pending.peek(), message];
  return deliver(message);
}

export function sendAgain(message: PendingMessage): Promise<boolean> {
  change(message.localId, null);
  return deliver(message);
}

const address = (to: Destination) =>
  to.kind === "topic"
    ? ({ type: "channel", to: to.channelId, topic: to.topic } as const)
    : ({ type: "direct", to: to.userIds } as const);

/** How long a message may wait for the network before the page says that it was not sent. */
const patienceMs = 30_000;

async function deliver({ localId, to, content, queueId }: PendingMessage): Promise<boolean> {
  const queue = queueId === undefined ? {} : { queue_id: queueId };
  try {
    await client.call(
      "POST /messages",
      { ...address(to), content, read_by_sender: true, local_id: localId, ...queue },
      { idempotencyKey: `page-${localId}`, retryMs: patienceMs },
    );
    // As a rule its event has arrived. If the queue was replaced meanwhile, the list is fetched with the message.
    setTimeout(() => dropPending(localId), settleMs);
    return true;
  } catch (error) {
    const why =
      error instanceof ConnectionError
        ? "The server did not answer. Send it again when you are connected; it will not be sent twice."
        : explain(error);
    change(localId, why);
    return false;
  }
}

const settleMs = 5_000;
