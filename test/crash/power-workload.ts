/**
 * The workload before a power cut: users post, edit, delete and upload concurrently while a socket reads. Requests and
 * responses are located in the trace by the requests' keys; what must hold after a cut follows from that.
 */
import { createHash } from "node:crypto";
import { limits } from "../../schemas/limits.ts";
import { sendFile } from "../support/attachments.ts";
import type { Client } from "../support/client.ts";
import { type Frame, Socket } from "../support/socket.ts";
import type { Recording } from "./disk-trace.ts";

const lanes = 6;
const stepsPerLane = 16;

interface Operation {
  readonly key: string;
  /** The message that it posts, edits or deletes; null: an upload. */
  readonly post: string | null;
  /** The message's content after the operation; null: deleted. */
  readonly content: string | null;
  /** The id in the response, or the address and digest. */
  id: number;
  url: string;
  digest: string;
}

export interface Day {
  readonly operations: readonly Operation[];
  readonly queue: { readonly id: string; readonly lastEventId: number };
  /** Ids of the events that announced posts. */
  readonly eventOf: ReadonlyMap<string, number>;
}

export async function runWorkload(owner: Client, random: () => number): Promise<Day> {
  const socket = new Socket(owner.url, { as: owner });
  await socket.opened();
  const { queue_id: id, last_event_id: lastEventId } = await socket.ask({
    type: "register",
    params: { event_types: ["message"] },
  });
  const operations: Operation[] = [];
  await Promise.all(Array.from({ length: lanes }, (_, lane) => liveLane(owner, lane, random, operations)));
  const posts = operations.filter(({ key }) => key.startsWith("k"));
  for (const { key } of posts) await socket.event(({ message }: Frame) => message?.content.includes(key));
  const eventOf = new Map(
    socket.events.flatMap(({ id: eventId, message }: Frame) => {
      const key = keysIn(message?.content ?? "")[0];
      return key === undefined ? [] : [[key, eventId] as const];
    }),
  );
  socket.close();
  return { operations, queue: { id, lastEventId }, eventOf };
}

async function liveLane(owner: Client, lane: number, random: () => number, operations: Operation[]): Promise<void> {
  const standing: Operation[] = [];
  for (let step = 0; step < stepsPerLane; step++) {
    const chance = random();
    const known = chance < 0.3 ? standing.shift() : undefined;
    const make = (kind: string, post: string | null, content: string | null): Operation => {
      const operation = { key: `${kind}${lane}-${step}z`, post, content, id: known?.id ?? 0, url: "", digest: "" };
      operations.push(operation);
      return operation;
    };
    if (known !== undefined && chance < 0.2) {
      const key = `e${lane}-${step}z`;
      await done(
        owner.patch(
          `/messages/${known.id}`,
          { content: `edited by ${key}` },
          keyed(make("e", known.post, `edited by ${key}`)),
        ),
      );
    } else if (known !== undefined) {
      await done(owner.delete(`/messages/${known.id}`, {}, keyed(make("d", known.post, null))));
    } else if (chance > 0.76 && lane < limits.uploads_per_user_max) {
      const bytes = Buffer.alloc(1 + Math.floor(random() * 12_000), Math.floor(random() * 256));
      const operation = make("u", null, null);
      operation.digest = digestOf(bytes);
      operation.url = (await done(sendFile(owner, bytes, '"f.bin"', keyed(operation)))).url;
    } else {
      const key = `k${lane}-${step}z`;
      // Some have pages of their own.
      const operation = make("k", key, `${key} ${"x".repeat(Math.floor(random() ** 4 * 9000))}`.trim());
      operation.id = (
        await done(owner.post("/messages", { ...placeOf(lane, step), content: operation.content }, keyed(operation)))
      ).id;
      standing.push(operation);
    }
  }
}

function placeOf(lane: number, step: number): Record<string, unknown> {
  if (lane === 0) return { type: "direct", to: [2] };
  return { type: "channel", to: "general", topic: lane === 1 ? `new ${step}` : `lane ${lane}` };
}

function keyed({ key }: Operation): Record<string, string> {
  return { "Idempotency-Key": key };
}

async function done(answered: ReturnType<Client["get"]>) {
  const { status, body } = await answered;
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The keys of posts in a text. */
export function keysIn(text: string): string[] {
  return text.match(/\bk\d+-\d+z/g) ?? [];
}

/**
 * Lines of the trace at which operations were requested, answered and announced: the earliest moment at which the other
 * side can have received them.
 */
export interface Timeline {
  readonly createdAt: number;
  readonly registeredAt: number;
  readonly asked: ReadonlyMap<string, number>;
  readonly answered: ReadonlyMap<string, number>;
  readonly received: ReadonlyMap<string, number>;
}

export function timelineOf({ wires }: Recording, day: Day): Timeline {
  const asked = new Map<string, number>();
  const answered = new Map<string, number>();
  const received = new Map<string, number>();
  const underWay = new Map<number, string>();
  for (const { fd, isSent, text, start, end } of wires) {
    if (!isSent) {
      const key = /^idempotency-key: (\S+)/im.exec(text)?.[1];
      if (key === undefined) continue;
      asked.set(key, end);
      underWay.set(fd, key);
    } else if (text.startsWith("HTTP/1.1 200 ")) {
      const key = underWay.get(fd);
      if (key !== undefined && !answered.has(key)) answered.set(key, start);
    } else for (const key of keysIn(text)) if (!received.has(key)) received.set(key, start);
  }
  const firstSent = (part: string) =>
    wires.find(({ isSent, text }) => isSent && text.includes(part))?.start ?? Number.NaN;
  return { createdAt: firstSent("Try: "), registeredAt: firstSent(day.queue.id), asked, answered, received };
}

export interface ExpectedPost {
  readonly key: string;
  /** 0: not known to any client. */
  readonly id: number;
  /** The contents that it may have; null: it may be missing. */
  readonly contents: readonly (string | null)[];
  readonly isReceived: boolean;
}

/** What must hold after a cut. */
export interface Expected {
  readonly isInitialized: boolean;
  readonly posts: readonly ExpectedPost[];
  readonly uploads: readonly { readonly url: string; readonly digest: string }[];
  readonly queue: { readonly id: string; readonly lastEventId: number } | null;
}

export function expectedAt(line: number, day: Day, timeline: Timeline): Expected {
  const isBefore = (at: number | undefined) => at !== undefined && at <= line;
  const isAnswered = ({ key }: Operation) => isBefore(timeline.answered.get(key));
  const asked = day.operations.filter(({ key }) => isBefore(timeline.asked.get(key)));
  const received = [...timeline.received].flatMap(([key, at]) => (at <= line ? [day.eventOf.get(key) ?? 0] : []));
  return {
    isInitialized: timeline.createdAt <= line,
    posts: asked
      .filter(({ key, post }) => key === post)
      .map((post) => {
        const isReceived = isBefore(timeline.received.get(post.key));
        const isThere = isAnswered(post) || isReceived;
        return {
          key: post.key,
          id: isAnswered(post) ? post.id : 0,
          contents: contentsOf(post, asked, isThere, isAnswered),
          isReceived,
        };
      }),
    uploads: asked
      .filter((operation) => operation.post === null && isAnswered(operation))
      .map(({ url, digest }) => ({ url, digest })),
    queue:
      timeline.registeredAt <= line
        ? { id: day.queue.id, lastEventId: Math.max(day.queue.lastEventId, ...received) }
        : null,
  };
}

/** All promises, which are broken if the store cannot be read at all. */
export function promisedBy({ posts, uploads }: Expected): string[] {
  const promised = posts.filter(({ contents }) => !contents.includes(null));
  return [...promised.map(({ key }) => `${key} is gone`), ...uploads.map(({ url }) => `the file ${url} is gone`)];
}

/** A post is changed at most once: until the change is answered, both contents are possible. */
function contentsOf(
  post: Operation,
  asked: readonly Operation[],
  isThere: boolean,
  isAnswered: (operation: Operation) => boolean,
) {
  const change = asked.find((operation) => operation.post === post.key && operation !== post);
  if (change !== undefined && isAnswered(change)) return [change.content];
  return [post.content, ...(change === undefined ? [] : [change.content]), ...(isThere ? [] : [null])];
}
