/**
 * Whatever names a topic follows its messages when they are moved: the place, what is being written, messages that were
 * not sent, drafts, scheduled messages, and lists of topics.
 */
import { effect } from "@preact/signals";
import type { Events, Message } from "../../client/src/api/index.ts";
import { conversationOf } from "./actions.ts";
import { client } from "./api.ts";
import { keepAsDraft } from "./compose/compose-actions.ts";
import { composing, destinationOf } from "./compose/compose-state.ts";
import { takeEdit } from "./edits.ts";
import { replacePlace } from "./navigation.ts";
import { type Destination, pending } from "./pending.ts";
import { channelOf, isConversation, movedTerms, narrowKey, topicOf } from "./state/narrow.ts";
import { drafts, messages, place, scheduled, topicNamed } from "./store.ts";
import { topicChanges } from "./topics.ts";

interface Topic {
  readonly channelId: number;
  readonly topic: string;
}

interface Move {
  readonly from: Topic;
  readonly to: Topic;
  readonly ids: readonly number[];
}

function isSame(a: Topic, b: Topic): boolean {
  return a.channelId === b.channelId && topicNamed(a.topic).toLowerCase() === topicNamed(b.topic).toLowerCase();
}

function moveOf(event: Events["update_message"]): Move | null {
  const { orig_subject: before, stream_id: channelId, subject = before, message_ids: ids } = event;
  if (before === undefined || subject === undefined || channelId === undefined) return null;
  const to = { channelId: event.new_stream_id ?? channelId, topic: subject };
  return { from: { channelId, topic: before }, to, ids };
}

function topicHere(): Topic | null {
  const now = place.peek();
  if (now.kind !== "narrow") return null;
  const [channelId, topic] = [channelOf(now.terms), topicOf(now.terms)];
  return channelId === null || topic === null ? null : { channelId, topic };
}

/** Where a destination is after a move. */
function moved<To extends Destination>(to: To, { from, to: next }: Move): To {
  return to.kind === "topic" && isSame(to, from) ? { ...to, ...next } : to;
}

type Stored = (typeof drafts.value)[number] | (typeof scheduled.value)[number];

function isIn({ type, to, topic }: Stored & { readonly topic?: string }, { from }: Move): boolean {
  const channelId = typeof to === "number" ? to : to[0];
  return type === "stream" && channelId !== undefined && isSame({ channelId, topic: topic ?? "" }, from);
}

/** What other devices do as well: the same change twice is one. A refusal leaves it where it is. */
function moveStored(move: Move): void {
  const { channelId, topic } = move.to;
  for (const draft of drafts.peek()) {
    // The one in the box is saved with its text.
    if (!isIn(draft, move) || draft.id === composing.peek().draftId) continue;
    const { id, content, timestamp } = draft;
    const next = { type: "stream" as const, to: [channelId], topic, content, timestamp };
    client.call("PATCH /drafts/{draft_id}", { draft_id: id, draft: next }).catch(() => undefined);
  }
  for (const one of scheduled.peek()) {
    if (!isIn(one, move)) continue;
    const where = { type: "channel" as const, to: channelId, topic };
    const { scheduled_message_id } = one;
    client
      .call("PATCH /scheduled_messages/{scheduled_message_id}", { scheduled_message_id, ...where })
      .catch(() => undefined);
  }
}

/** The whole topic has moved. */
function followWhole(move: Move): void {
  const here = topicHere();
  const now = place.peek();
  if (here !== null && isSame(here, move.from) && now.kind === "narrow") {
    replacePlace({ ...now, terms: movedTerms(now.terms, move.to.channelId, move.to.topic) });
  }
  const { to } = composing.peek();
  if (to !== null && moved(to, move) !== to) composing.value = { ...composing.peek(), to: moved(to, move) };
  pending.value = pending.peek().map((one) => ({ ...one, to: moved(one.to, move) }));
  moveStored(move);
}

/** The topic stays, with other messages: the place names one of these. */
function followRest({ from, ids }: Move): void {
  const { to } = composing.peek();
  if (to?.kind === "topic" && isSame(to, from) && ids.includes(to.member ?? 0)) {
    composing.value = { ...composing.peek(), to: { kind: "topic", channelId: to.channelId, topic: to.topic } };
  }
  const here = topicHere();
  const now = place.peek();
  if (here === null || !isSame(here, from) || now.kind !== "narrow") return;
  if (!ids.includes(now.near ?? now.with ?? 0)) return;
  replacePlace({ kind: "narrow", terms: now.terms, near: null });
}

function hasDependents(move: Move): boolean {
  const here = topicHere();
  const { to } = composing.peek();
  if (here !== null && isSame(here, move.from)) return true;
  if (to !== null && moved(to, move) !== to) return true;
  return [...drafts.peek(), ...scheduled.peek()].some((one) => isIn(one, move));
}

async function isEmpty({ channelId, topic }: Topic): Promise<boolean> {
  const narrow = [
    { operator: "channel", operand: channelId },
    { operator: "topic", operand: topic },
  ];
  const params = { anchor: "newest", num_before: 1, num_after: 0, allow_empty_topic_name: true } as const;
  return (await client.call("GET /messages", { ...params, narrow })).messages.length === 0;
}

export function followMove(event: Events["update_message"]): void {
  const move = moveOf(event);
  if (move === null) return;
  topicChanges.value++;
  if (event.propagate_mode === "change_all") {
    followWhole(move);
    return;
  }
  followRest(move);
  if (!hasDependents(move)) return;
  // Only the server knows whether some messages have stayed.
  isEmpty(move.from).then(
    (isGone) => isGone && followWhole(move),
    () => undefined,
  );
}

/** Before the messages are gone: a change of one of them that was not saved becomes a draft. */
export function followDeletion(event: Events["delete_message"]): void {
  topicChanges.value++;
  for (const id of "message_ids" in event ? event.message_ids : [event.message_id]) {
    const message = messages.peek().byId.get(id);
    const text = takeEdit(id);
    if (text === null) continue;
    const to = message === undefined ? null : destinationOf(conversationOf(message, null));
    keepAsDraft({ to, text, draftId: null }).catch(() => undefined);
  }
}

/** What moved while the page was away: the destination of what is being written names a message. */
export async function followMissed(): Promise<void> {
  topicChanges.value++;
  const { to } = composing.peek();
  if (to?.kind !== "topic" || to.member === undefined) return;
  const ids = { message_ids: [to.member], allow_empty_topic_name: true } as const;
  const [found] = (await client.call("GET /messages", ids)).messages as readonly Message[];
  const now = composing.peek();
  if (found?.stream_id === undefined || now.to?.kind !== "topic" || now.to.member !== to.member) return;
  const next = { channelId: found.stream_id, topic: found.subject };
  if (!isSame(now.to, next)) composing.value = { ...now, to: { ...now.to, ...next } };
}

/** The address of a topic names one of its messages, so that it leads there after a change of the name, too. */
export function watchMembers(): void {
  effect(() => {
    const now = place.value;
    if (now.kind !== "narrow" || now.near !== null || now.with !== undefined) return;
    if (topicOf(now.terms) === null || !isConversation(now.terms)) return;
    const list = messages.value.lists.get(narrowKey(now.terms));
    const newest = list?.isStale === false ? list.ids.at(-1) : undefined;
    if (newest !== undefined) replacePlace({ ...now, with: newest });
  });
}
