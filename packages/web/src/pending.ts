/**
 * Messages on their way: shown at once, and replaced by the event of the stored message. One that fails stays, with the
 * reason, until the person sends it again or drops it. A repetition has the same key, so the server stores it once.
 */
import { effect, signal } from "@preact/signals";
import type { Events } from "../../client/src/exports.ts";
import { conversationKey } from "../../client/src/state/index.ts";
import { ApiError, ConnectionError, client, explain } from "./api.ts";
import { keep, leaveToNextVisit, readKept } from "./kept.ts";
import { forgetTypist } from "./live.ts";
import { serverNow } from "./server-clock.ts";
import { myId } from "./store.ts";

export type Destination =
  | {
      readonly kind: "topic";
      readonly channelId: number;
      readonly topic: string;
      /** A message of the topic, if one is known: the topic is where this message is. */
      readonly member?: number;
    }
  | { readonly kind: "direct"; readonly userIds: readonly number[] };

export interface PendingMessage {
  readonly localId: string;
  readonly to: Destination;
  /** Where its requests under this key send it: a repetition must be the same request. */
  readonly first: Destination;
  readonly content: string;
  readonly at: number;
  /** The queue at the first attempt: a repetition under the same key must be the same request. */
  readonly queueId: string | undefined;
  /** Null while it is on its way. */
  readonly problem: string | null;
  /** The server has answered that it did not store it. */
  readonly isRefused: boolean;
  /** The draft that it was written from. */
  readonly draftId: number | null;
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
  leaveToNextVisit(storageKey, () => pending.peek().length > 0);
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

function change(localId: string, change: Partial<PendingMessage>): void {
  pending.value = pending.peek().map((one) => (one.localId === localId ? { ...one, ...change } : one));
}

export function dropPending(localId: string): void {
  pending.value = pending.peek().filter((one) => one.localId !== localId);
}

/** The event of a message that was sent here. */
export function settlePending(event: Events["message"]): void {
  forgetTypist(conversationKey(myId.peek(), event.message), event.message.sender_id);
  if (event.local_message_id !== undefined) dropPending(event.local_message_id);
}

const newLocalId = () => `${origin}-${++count}`;

/**
 * @param draft the draft that it was written from
 * @returns the draft of a message that the server has, which is not needed any more
 */
export async function send(to: Destination, content: string, draft: Promise<number | null>): Promise<number | null> {
  const localId = newLocalId();
  const request = { queueId: findQueue(), problem: null, isRefused: false, draftId: null };
  const message = { localId, to, first: to, content, at: serverNow() / 1000, ...request };
  pending.value = [...pending.peek(), message];
  draft.then((draftId) => change(localId, { draftId })).catch(() => undefined);
  return (await deliver(message)) ? draft : null;
}

/** One that the server has refused is a new message, and goes where its topic is now. */
export async function sendAgain(message: PendingMessage): Promise<number | null> {
  const { localId, to, isRefused, draftId } = message;
  const next = isRefused ? { localId: newLocalId(), first: to, isRefused: false } : {};
  change(localId, { ...next, problem: null });
  return (await deliver({ ...message, ...next })) ? draftId : null;
}

const address = (to: Destination) =>
  to.kind === "topic"
    ? ({ type: "channel", to: to.channelId, topic: to.topic } as const)
    : ({ type: "direct", to: to.userIds } as const);

/** How long a message may wait for the network before the page says that it was not sent. */
const patienceMs = 30_000;

async function deliver({ localId, first, content, queueId }: PendingMessage): Promise<boolean> {
  const queue = queueId === undefined ? {} : { queue_id: queueId };
  try {
    await client.call(
      "POST /messages",
      { ...address(first), content, read_by_sender: true, local_id: localId, ...queue },
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
    change(localId, { problem: why, isRefused: error instanceof ApiError });
    return false;
  }
}

const settleMs = 5_000;
