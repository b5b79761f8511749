/**
 * A WebSocket client (docs/realtime.md) for the command line: registers a queue and passes on its events. It reconnects
 * when the server says "reconnect and resume", and misses nothing (E2).
 */
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";
import type { Account } from "./zuliprc.ts";

export interface ListenOptions {
  /** Empty means every type. */
  readonly types: readonly string[];
  /** Number of events after which it stops. */
  readonly count: number;
  readonly onEvent: (event: Readonly<Record<string, unknown>>) => void;
}

interface Position {
  queueId: string;
  lastEventId: number;
}

interface Frame {
  readonly type: string;
  readonly result?: string;
  readonly msg?: string;
  readonly queue_id?: string;
  readonly last_event_id?: number;
  readonly event?: { readonly id: number };
  readonly events?: readonly { readonly id: number }[];
}

/** Codes after which a reconnect helps: going away, connection lost, slow reader. */
const retryCodes: ReadonlySet<number> = new Set([1001, 1006, 4508]);
const retryPauseMs = 500;
const retries_max = 100;

/** @returns null after `count` events, else the reason for the end */
export async function listen(account: Account, options: ListenOptions): Promise<string | null> {
  const progress = { position: null as Position | null, left: options.count };
  for (let attempt = 0; attempt < retries_max; attempt++) {
    const ended = await connectOnce(account, options, progress);
    if (progress.left <= 0) return null;
    if (!retryCodes.has(ended.code) || progress.position === null)
      return ended.reason || `the connection failed (${ended.code})`;
    await pause(retryPauseMs);
  }
  return "gave up reconnecting";
}

function connectOnce(
  account: Account,
  options: ListenOptions,
  progress: { position: Position | null; left: number },
): Promise<{ code: number; reason: string }> {
  const credentials = Buffer.from(`${account.email}:${account.key}`).toString("base64");
  const socket = new WebSocket(`${account.site.replace(/^http/, "ws")}/api/v1/events/ws`, {
    headers: { Authorization: `Basic ${credentials}`, "User-Agent": "colloquy-listen" },
  });
  const take = (event: { readonly id: number }) => {
    if (progress.left <= 0) return;
    if (progress.position !== null) progress.position.lastEventId = event.id;
    options.onEvent(event as unknown as Readonly<Record<string, unknown>>);
    progress.left--;
    if (progress.left <= 0) socket.close();
  };
  socket.on("open", () => socket.send(JSON.stringify(firstFrame(options, progress.position))));
  socket.on("message", (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as Frame;
    if (frame.type === "event" && frame.event !== undefined) take(frame.event);
    else if (frame.type === "events") for (const event of frame.events ?? []) take(event);
    else if (frame.result === "error") socket.close(1000, frame.msg);
    else if (frame.queue_id !== undefined && progress.position === null) {
      progress.position = { queueId: frame.queue_id, lastEventId: frame.last_event_id ?? -1 };
    }
  });
  return new Promise((resolve) => {
    socket.on("error", () => undefined);
    socket.on("close", (code, reason) => resolve({ code, reason: reason.toString() }));
  });
}

function firstFrame(options: ListenOptions, position: Position | null): Record<string, unknown> {
  if (position !== null) return { type: "resume", queue_id: position.queueId, last_event_id: position.lastEventId };
  const types = options.types.length === 0 ? {} : { event_types: options.types };
  return { type: "register", ref: "register", ...types, fetch_event_types: [] };
}
