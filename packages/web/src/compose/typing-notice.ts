/** Tells the others that the person is typing, and that they have stopped. */
import { client } from "../api.ts";
import type { Destination } from "../pending.ts";
import { myId, settings } from "../store.ts";

/** The server takes a typist who goes silent for stopped; a start is repeated before that. */
const repeatMs = 9_000;
const pauseMs = 6_000;

let current: { readonly key: string; readonly to: Destination; startedAt: number } | null = null;
let pauseTimer: ReturnType<typeof setTimeout> | undefined;

function tell(op: "start" | "stop", to: Destination): void {
  const where =
    to.kind === "topic"
      ? ({ type: "stream", stream_id: to.channelId, topic: to.topic } as const)
      : ({ type: "direct", to: to.userIds.filter((id) => id !== myId.peek()) } as const);
  // The next keystroke repeats it.
  client.call("POST /typing", { op, ...where }, { retryMs: 0 }).catch(() => undefined);
}

function isWanted(to: Destination): boolean {
  const wanted = settings.peek();
  if (to.kind === "topic") return wanted?.send_stream_typing_notifications === true;
  return wanted?.send_private_typing_notifications === true && to.userIds.some((id) => id !== myId.peek());
}

export function stoppedTyping(): void {
  clearTimeout(pauseTimer);
  if (current !== null) tell("stop", current.to);
  current = null;
}

export function isTyping(to: Destination | null): void {
  if (to === null || !isWanted(to)) return;
  const key = JSON.stringify(to);
  if (current !== null && current.key !== key) stoppedTyping();
  const now = Date.now();
  if (current === null || now - current.startedAt > repeatMs) {
    current = { key, to, startedAt: now };
    tell("start", to);
  }
  clearTimeout(pauseTimer);
  pauseTimer = setTimeout(stoppedTyping, pauseMs);
}
