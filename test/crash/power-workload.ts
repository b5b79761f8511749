/**
 * The workload before a power cut: users post, edit, delete and upload concurrently while a socket reads, and go on when
 * the server was killed and started again. Requests and responses are located in the trace by the requests' keys; what
 * must hold after a cut follows from that.
 */
import { createHash } from "node:crypto";
import { limits } from "../../schemas/limits.ts";
import { sendFile } from "../support/attachments.ts";
import type { Client } from "../support/client.ts";
import { type Frame, Socket } from "../support/socket.ts";
import type { Recording } from "./disk-trace.ts";

const lanes = 6;

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

export class Workload implements Day {
  readonly operations: Operation[] = [];
  readonly eventOf = new Map<string, number>();
  queue = { id: "", lastEventId: -1 };
  readonly #lanes: readonly Lane[];
  #socket: Socket | null = null;
  #answers = 0;
  #isServerGone = false;
  #waiting: { readonly answers: number; readonly resolve: () => void } | null = null;

  constructor(random: () => number) {
    this.#lanes = Array.from({ length: lanes }, (_, lane) => new Lane(lane, random, this.operations));
  }

  /** Registers the queue, or resumes it after what was read. */
  async connect(owner: Client): Promise<void> {
    this.#isServerGone = false;
    this.#socket = new Socket(owner.url, { as: owner });
    await this.#socket.opened();
    if (this.queue.id === "") {
      const params = { event_types: ["message"] };
      const { queue_id: id, last_event_id: lastEventId } = await this.#socket.ask({ type: "register", params });
      this.queue = { id, lastEventId };
    } else {
      const read = Math.max(this.queue.lastEventId, ...this.eventOf.values());
      const reply = await this.#socket.ask({ type: "resume", queue_id: this.queue.id, last_event_id: read });
      if (reply.result !== "success") throw new Error(`the queue cannot be resumed: ${JSON.stringify(reply)}`);
    }
  }

  /** Resolves when each lane has done so many steps, or the server is gone. */
  async live(owner: Client, steps: number): Promise<void> {
    const isGone = () => this.#isServerGone;
    const onAnswer = () => this.#answered();
    await Promise.all(this.#lanes.map((lane) => lane.live(owner, steps, { isGone, onAnswer })));
  }

  /** Resolves when so many operations were answered. */
  answered(answers: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = { answers, resolve };
    });
  }

  #answered(): void {
    this.#answers++;
    if (this.#answers === this.#waiting?.answers) this.#waiting.resolve();
  }

  /** From now on, requests may fail: they are repeated after `connect`. */
  losesServer(): void {
    this.#isServerGone = true;
  }

  /** Takes note of what the socket has read, once it is closed. */
  async lostServer(): Promise<void> {
    await this.#socket?.closed;
    this.#readEvents();
  }

  /** Reads the events of all posts; a queue that is resumed leaves those of deleted messages out. */
  async finish(): Promise<void> {
    const deleted = new Set(this.operations.filter(({ content }) => content === null).map(({ post }) => post));
    for (const { key } of this.operations) {
      if (!key.startsWith("k") || deleted.has(key) || this.eventOf.has(key)) continue;
      await this.#socket?.event(({ message }: Frame) => message?.content.includes(key));
    }
    this.#readEvents();
    this.#socket?.close();
  }

  #readEvents(): void {
    for (const { id, message } of this.#socket?.events ?? []) {
      const key = keysIn(message?.content ?? "")[0];
      if (key !== undefined && !this.eventOf.has(key)) this.eventOf.set(key, id);
    }
  }
}

type Send = (owner: Client) => Promise<void>;

class Lane {
  readonly #lane: number;
  readonly #random: () => number;
  readonly #operations: Operation[];
  readonly #standing: Operation[] = [];
  #step = 0;
  /** Not answered yet; repeated under its key if the server is killed meanwhile. */
  #underWay: Send | null = null;

  constructor(lane: number, random: () => number, operations: Operation[]) {
    this.#lane = lane;
    this.#random = random;
    this.#operations = operations;
  }

  async live(
    owner: Client,
    steps: number,
    { isGone, onAnswer }: { readonly isGone: () => boolean; readonly onAnswer: () => void },
  ): Promise<void> {
    while (!isGone() && (this.#underWay !== null || this.#step < steps)) {
      this.#underWay ??= this.#next(this.#step++);
      try {
        await this.#underWay(owner);
      } catch (error) {
        if (isGone()) return;
        throw error;
      }
      this.#underWay = null;
      onAnswer();
    }
  }

  #next(step: number): Send {
    const chance = this.#random();
    const known = chance < 0.3 ? this.#standing.shift() : undefined;
    if (known !== undefined && chance < 0.2) {
      const content = `edited by e${this.#lane}-${step}z`;
      const operation = this.#make("e", step, known.post, content);
      return async (owner) => {
        await done(owner.patch(`/messages/${known.id}`, { content }, keyed(operation)));
      };
    }
    if (known !== undefined) {
      const operation = this.#make("d", step, known.post, null);
      return async (owner) => {
        await done(owner.delete(`/messages/${known.id}`, {}, keyed(operation)));
      };
    }
    return chance > 0.76 && this.#lane < limits.uploads_per_user_max ? this.#upload(step) : this.#post(step);
  }

  #upload(step: number): Send {
    const bytes = Buffer.alloc(1 + Math.floor(this.#random() * 12_000), Math.floor(this.#random() * 256));
    const operation = this.#make("u", step, null, null);
    operation.digest = digestOf(bytes);
    return async (owner) => {
      operation.url = (await done(sendFile(owner, bytes, '"f.bin"', keyed(operation)))).url;
    };
  }

  #post(step: number): Send {
    const key = `k${this.#lane}-${step}z`;
    // Some have pages of their own.
    const content = `${key} ${"x".repeat(Math.floor(this.#random() ** 4 * 9000))}`.trim();
    const operation = this.#make("k", step, key, content);
    return async (owner) => {
      const params = { ...placeOf(this.#lane, step), content };
      operation.id = (await done(owner.post("/messages", params, keyed(operation)))).id;
      this.#standing.push(operation);
    };
  }

  #make(kind: string, step: number, post: string | null, content: string | null): Operation {
    const operation = { key: `${kind}${this.#lane}-${step}z`, post, content, id: 0, url: "", digest: "" };
    this.#operations.push(operation);
    return operation;
  }
}

function placeOf(lane: number, step: number): Record<string, unknown> {
  if (lane === 0) return { type: "direct", to: [2] };
  return { type: "channel", to: "general", topic: lane === 1 ? `new ${step}` : `lane ${lane}` };
}

function keyed({ key }: Operation): Record<string, string> {
  return { "Idempotency-Key": key };
}

/** A server that has lost a message rejects what changes it. */
export class Rejected extends Error {
  override readonly name = "Rejected";
}

async function done(answered: ReturnType<Client["get"]>) {
  const { status, body } = await answered;
  if (status !== 200) throw new Rejected(`${status} ${JSON.stringify(body)}`);
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
  /** The server starts again, after it was killed. */
  readonly restartedAt: number;
  readonly servesAgainAt: number;
  readonly requested: ReadonlyMap<string, number>;
  readonly answered: ReadonlyMap<string, number>;
  readonly received: ReadonlyMap<string, number>;
}

export function timelineOf({ wires, starts }: Recording, day: Day): Timeline {
  const requested = new Map<string, number>();
  const answered = new Map<string, number>();
  const received = new Map<string, number>();
  const underWay = new Map<string, string>();
  for (const { process, fd, isSent, text, start, end } of wires) {
    const connection = `${process} ${fd}`;
    if (!isSent) {
      const key = /^idempotency-key: (\S+)/im.exec(text)?.[1];
      if (key === undefined) continue;
      // It may be repeated after the kill.
      if (!requested.has(key)) requested.set(key, end);
      underWay.set(connection, key);
    } else if (text.startsWith("HTTP/1.1 200 ")) {
      const key = underWay.get(connection);
      if (key !== undefined && !answered.has(key)) answered.set(key, start);
    } else for (const key of keysIn(text)) if (!received.has(key)) received.set(key, start);
  }
  const firstSent = (part: string, after = -1) =>
    wires.find(({ isSent, text, start }) => start > after && isSent && text.includes(part))?.start ?? Number.NaN;
  const restartedAt = starts[1] ?? Number.NaN;
  return {
    createdAt: firstSent("Try: "),
    registeredAt: firstSent(day.queue.id),
    restartedAt,
    servesAgainAt: firstSent("Try: ", restartedAt),
    requested: requested,
    answered,
    received,
  };
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
  const requested = day.operations.filter(({ key }) => isBefore(timeline.requested.get(key)));
  // What was sent just before the kill may not have been read.
  const isRead = (key: string) => day.eventOf.has(key) && isBefore(timeline.received.get(key));
  const received = [...day.eventOf].flatMap(([key, id]) => (isRead(key) ? [id] : []));
  return {
    isInitialized: timeline.createdAt <= line,
    posts: requested
      .filter(({ key, post }) => key === post)
      .map((post) => {
        const isReceived = isRead(post.key);
        const isThere = isAnswered(post) || isReceived;
        return {
          key: post.key,
          id: isAnswered(post) ? post.id : 0,
          contents: contentsOf(post, requested, isThere, isAnswered),
          isReceived,
        };
      }),
    uploads: requested
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
  requested: readonly Operation[],
  isThere: boolean,
  isAnswered: (operation: Operation) => boolean,
) {
  const change = requested.find((operation) => operation.post === post.key && operation !== post);
  if (change !== undefined && isAnswered(change)) return [change.content];
  return [post.content, ...(change === undefined ? [] : [change.content]), ...(isThere ? [] : [null])];
}
