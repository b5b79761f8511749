/**
 * Helpers for tests of event queues: reads and held reads of a queue, its current reader, many messages at once. Only
 * `queueOf` is white-box, so that a test can wait until a poll is held instead of for time.
 */
import type { Hub } from "../../src/edge/realtime/hub.ts";
import type { LiveQueue } from "../../src/edge/realtime/queue.ts";
import { checkAnswer } from "./answer-check.ts";
import type { Answer, Client, Event, Params, Queue } from "./client.ts";
import type { TestServer } from "./server.ts";
import { type Frame, Socket } from "./socket.ts";

export function hubOf(server: TestServer): Hub {
  return server.running.hubOf(server.realm);
}

export function queueOf(server: TestServer, queue: Queue): LiveQueue | undefined {
  return hubOf(server).queue(queue.queue_id);
}

/** Whether one of the user's queues has a held poll: a client that follows events receives the next one. */
export function isPolledBy(server: TestServer, userId: number): boolean {
  const { view } = server.running.host.realmOf("");
  return [...view.queuesOf(userId)].some((id) => hubOf(server).queue(id)?.state.kind === "poll");
}

/** Resolves when the condition holds; checked between passes of the event loop, which the server shares. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise<void>((resolve) => setImmediate(resolve));
}

export interface WaitingPoll {
  readonly answer: Promise<Answer>;
  /** Closes the connection. */
  abort(): void;
}

/** Starts a long-poll; resolves when it waits at the server. */
export async function waitingPoll(
  server: TestServer,
  client: Client,
  queue: Queue,
  after: number,
): Promise<WaitingPoll> {
  const before = queueOf(server, queue)?.state;
  const poll = startPoll(client, queue, after);
  await until(() => {
    const state = queueOf(server, queue)?.state;
    return state?.kind === "poll" && state !== before;
  });
  return poll;
}

/** Starts a long-poll. */
export function startPoll(client: Client, queue: Queue, after: number): WaitingPoll {
  const controller = new AbortController();
  const query = new URLSearchParams({ queue_id: queue.queue_id, last_event_id: String(after) });
  const request = async () => {
    const response = await fetch(`${client.url}/api/v1/events?${query}`, {
      headers: client.credentials,
      signal: controller.signal,
    });
    const { status, headers } = response;
    const body = await response.json();
    checkAnswer("GET", "/events", { status, body, header: (name) => headers.get(name) });
    return { status, body, headers };
  };
  const answer = request();
  // An aborted poll has no response; its caller sees that when awaiting it.
  answer.catch(() => undefined);
  return { answer, abort: () => controller.abort() };
}

/** An open socket with the caller's credentials in its header. */
export async function connect(client: Client, protocol?: "msgpack"): Promise<Socket> {
  const socket = new Socket(client.url, protocol === undefined ? { as: client } : { as: client, protocol });
  await socket.opened();
  return socket;
}

/** A socket that follows a queue of its own. */
export async function follow(client: Client, params: Params): Promise<{ socket: Socket; queue: Queue }> {
  const socket = await connect(client);
  const registered = await socket.ask({ type: "register", fetch_event_types: [], ...params });
  if (registered.result !== "success") throw new Error(JSON.stringify(registered));
  return { socket, queue: registered };
}

/** A socket that resumes a queue after a position. */
export async function resume(client: Client, queue: Queue, after: number): Promise<{ socket: Socket; reply: Frame }> {
  const socket = await connect(client);
  const reply = await socket.ask({ type: "resume", queue_id: queue.queue_id, last_event_id: after });
  return { socket, reply };
}

/** More passes over the log than any test needs. */
const replayPasses = 10;

/** The log's events for a queue after any position: polls do not repeat what they have acknowledged, sockets do. */
export async function readAgain(client: Client, queue: Queue, after = queue.last_event_id): Promise<Event[]> {
  const { socket, reply } = await resume(client, queue, after);
  if (reply.result !== "success") throw new Error(JSON.stringify(reply));
  // A replay continues with each pass of the server's event loop, and a round trip takes at least one.
  for (let pass = 0; pass < replayPasses; pass++) await socket.ask({ type: "ping" });
  const { events } = socket;
  socket.terminate();
  await socket.closed;
  return events;
}

/** Number of concurrent calls on one socket; below `socket_calls_pending_max`. */
const callsAtOnce = 32;

/** Posts many messages to a channel quickly, over one socket. @returns their ids in the order of `contents` */
export async function sayMany(
  client: Client,
  channel: number | string,
  topic: string,
  contents: readonly string[],
): Promise<number[]> {
  const socket = await connect(client);
  const ids: number[] = [];
  for (let start = 0; start < contents.length; start += callsAtOnce) {
    const replies = contents.slice(start, start + callsAtOnce).map((content) => {
      const params = { type: "channel", to: channel, topic, content };
      return socket.ask({ type: "call", method: "POST", path: "/messages", params });
    });
    for (const reply of await Promise.all(replies)) {
      if (reply.result !== "success") throw new Error(JSON.stringify(reply));
      ids.push(reply.id);
    }
  }
  socket.close();
  return ids;
}

/** Ids of the messages among events, in order of arrival. */
export function messageIds(events: readonly Event[]): number[] {
  return events.flatMap((event) => (event.type === "message" ? [event.message.id] : []));
}

/** Whether the ids of the events strictly increase. */
export function increases(events: readonly Event[]): boolean {
  return events.every((event, index) => index === 0 || events[index - 1].id < event.id);
}
