/** What passes: who types, and the person's own presence. */
import { effect } from "@preact/signals";
import type { Events } from "../../client/src/exports.ts";
import { channelKey, directKey } from "../../client/src/state/index.ts";
import { client } from "./api.ts";
import { noteServerTime, serverNow } from "./server-clock.ts";
import { applyToStore, chat, connection, minute, myId, typists } from "./store.ts";

/** A typist who goes silent is taken to have stopped; the server says the same after this time. */
const typingMs = 20_000;

export function noteTyping(event: Events["typing"]): void {
  const { user_id: userId } = event.sender;
  if (userId === myId.peek()) return;
  const key =
    event.message_type === "stream"
      ? channelKey(event.stream_id, event.topic)
      : directKey(event.recipients.map(({ user_id: id }) => id).filter((id) => id !== myId.peek()));
  const known = new Map(typists.peek().get(key));
  if (event.op === "start") known.set(userId, serverNow() + typingMs);
  else known.delete(userId);
  typists.value = new Map(typists.peek()).set(key, known);
}

/** A message says that its sender has finished typing. */
export function forgetTypist(key: string, userId: number): void {
  const known = typists.peek().get(key);
  if (known?.has(userId) !== true) return;
  const rest = new Map(known);
  rest.delete(userId);
  typists.value = new Map(typists.peek()).set(key, rest);
}

const tickMs = 30_000;
const presenceMs = 60_000;
let lastInput = Date.now();
/** If the clock was set back, it lies ahead. */
let lastReport = 0;

async function reportPresence(): Promise<void> {
  const isActive = !document.hidden && Date.now() - lastInput < 5 * presenceMs;
  const answer = await client.call(
    "POST /users/me/presence",
    { status: isActive ? "active" : "idle", slim_presence: true, new_user_input: isActive },
    { retryMs: 0 },
  );
  noteServerTime(answer.server_timestamp);
  const presences = answer.presences as Events["presence"] extends infer E
    ? E extends { readonly presences: infer P }
      ? P
      : never
    : never;
  if (presences !== undefined) applyToStore({ type: "presence", id: 0, presences });
}

/** Reports that the person is here, and lets passing things pass. */
export function watchTime(): void {
  for (const name of ["keydown", "pointerdown", "pointermove"] as const) {
    addEventListener(name, () => {
      lastInput = Date.now();
    });
  }
  const tick = () => {
    const now = serverNow();
    minute.value = now;
    const kept = [...typists.peek()].map(
      ([key, known]) => [key, new Map([...known].filter(([, until]) => until > now))] as const,
    );
    typists.value = new Map(kept.filter(([, known]) => known.size > 0));
    if (connection.peek().state !== "live" || Math.abs(now - lastReport) < presenceMs) return;
    lastReport = now;
    // The next report repeats it.
    reportPresence().catch(() => undefined);
  };
  setInterval(tick, tickMs / 3);
  effect(() => {
    if (connection.value.state === "live" && chat.peek() !== null) tick();
  });
}
