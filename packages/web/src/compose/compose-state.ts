/** What is being written, and to whom. It survives changes of place, lost connections, logins and reloads. */
import { effect, signal } from "@preact/signals";
import { keep, readKept } from "../kept.ts";
import type { Destination } from "../pending.ts";
import { channelOf, directOf, memberOf, type Place, topicOf } from "../state/narrow.ts";
import { chat, connection, place } from "../store.ts";
import { stoppedTyping } from "./typing-notice.ts";

export interface Composing {
  /** Null: not chosen yet. */
  readonly to: Destination | null;
  readonly text: string;
  /** The draft that this text comes from. */
  readonly draftId: number | null;
}

const nothing: Composing = { to: null, text: "", draftId: null };
const storageKey = "composing";

export const composing = signal<Composing>(read());
/** Opened by the person; in a conversation it is always shown. */
export const isComposeOpen = signal(composing.peek().text !== "");
/** Rises when the text area should take the focus. */
export const focusRequests = signal(0);
let requestsMet = 0;

let wantedCaret: "end" | "caret" = "end";

/**
 * Where no text area is shown, nobody has the request later.
 * @param where the person goes on writing
 */
export function focusCompose(where: typeof wantedCaret = "end"): void {
  wantedCaret = where;
  focusRequests.value++;
  setTimeout(meetFocusRequest, 0);
}

/** @returns where the person goes on writing; null if there is no request that nobody has met */
export function meetFocusRequest(): typeof wantedCaret | null {
  const isOpen = focusRequests.peek() !== requestsMet;
  requestsMet = focusRequests.peek();
  return isOpen ? wantedCaret : null;
}

/** Rises when a message was sent from here: the list goes to its end. */
export const sentCount = signal(0);
export const composeProblem = signal<string | null>(null);

function read(): Composing {
  const value = readKept(storageKey) as Composing | null;
  return typeof value?.text === "string" ? value : nothing;
}

/** A tab keeps its text over a reload. */
export function watchCompose(): void {
  effect(() => keep(storageKey, composing.value));
  effect(() => {
    const target = destinationOf(place.value);
    if (composing.peek().text === "" && target !== null) composing.value = { ...nothing, to: target };
  });
  let wasOffline = false;
  effect(() => {
    const isOffline = connection.value.state === "offline";
    // What was refused for it can be sent now.
    if (wasOffline && !isOffline) composeProblem.value = null;
    wasOffline = isOffline;
  });
}

/** Where a message that is written at a place would go; null if the place is no conversation. */
export function destinationOf(target: Place): Destination | null {
  if (target.kind !== "narrow") return null;
  const channelId = channelOf(target.terms);
  const topic = topicOf(target.terms);
  const member = topic === null ? null : memberOf(target);
  if (channelId !== null) {
    return { kind: "topic", channelId, topic: topic ?? "", ...(member === null ? {} : { member }) };
  }
  const userIds = directOf(target.terms);
  return userIds === null ? null : { kind: "direct", userIds };
}

export interface ComposeRequest {
  /** Null: the person chooses. */
  readonly to?: Place | Destination | null;
  /** Text that is added at the end. */
  readonly insert?: string;
  readonly draftId?: number;
}

export function openCompose({ to, insert, draftId }: ComposeRequest = {}): void {
  const before = composing.peek();
  const wanted = to == null || to.kind === "topic" || to.kind === "direct" ? to : destinationOf(to);
  // Where no conversation is open, the one before is not the next one. What was begun keeps its destination.
  const present = before.text.trim() === "" ? null : before.to;
  const target = to === null ? null : (wanted ?? present ?? destinationOf(place.peek()));
  const gap = before.text === "" || before.text.endsWith("\n") || insert === undefined ? "" : "\n";
  composing.value = {
    to: target,
    text: `${before.text}${gap}${insert ?? ""}`,
    draftId: draftId ?? before.draftId,
  };
  isComposeOpen.value = true;
  focusCompose();
}

export function setText(text: string): void {
  composing.value = { ...composing.peek(), text };
  composeProblem.value = null;
}

export function setDestination(to: Destination | null): void {
  composing.value = { ...composing.peek(), to };
  composeProblem.value = null;
}

export function clearCompose(): void {
  stoppedTyping();
  const here = destinationOf(place.peek());
  composing.value = { ...nothing, to: here ?? composing.peek().to };
  composeProblem.value = null;
}

/** Another person writes now. */
export function forgetComposing(): void {
  composing.value = nothing;
  composeProblem.value = null;
  isComposeOpen.value = false;
}

export function textLimit(): number {
  return chat.value?.max_message_length ?? 10_000;
}

/** Characters as the server counts them: code points. */
export function lengthOf(text: string): number {
  return [...text].length;
}
