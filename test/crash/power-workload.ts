/**
 * The day before a power cut: people post, edit, delete and upload side by side, one reads along on a socket. What was asked and what
 * was answered is placed in the trace by the requests' keys; what must hold after a cut follows from that.
 */
import { createHash } from "node:crypto";
import { limits } from "../../schemas/limits.ts";
import { sendFile } from "../support/attachments.ts";
import type { Client } from "../support/client.ts";
import { type Frame, Socket } from "../support/socket.ts";
import type { Recording } from "./disk-trace.ts";

const lanes = 6;
const stepsPerLane = 16;

interface Deed {
  readonly key: string;
  /** The message that it posts, edits or deletes; null: an upload. */
  readonly post: string | null;
  /** What the message reads then; null: it is gone. */
  readonly content: string | null;
  /** The answer's id, or address and digest. */
  id: number;
  url: string;
  digest: string;
}

export interface Day {
  readonly deeds: readonly Deed[];
  readonly queue: { readonly id: string; readonly lastEventId: number };
  /** Ids of the events that told of posts. */
  readonly eventOf: ReadonlyMap<string, number>;
}

export async function liveThroughDay(owner: Client, random: () => number): Promise<Day> {
  const socket = new Socket(owner.url, { as: owner });
  await socket.opened();
  const { queue_id: id, last_event_id: lastEventId } = await socket.ask({
    type: "register",
    params: { event_types: ["message"] },
  });
  const deeds: Deed[] = [];
  await Promise.all(Array.from({ length: lanes }, (_, lane) => liveLane(owner, lane, random, deeds)));
  const posts = deeds.filter(({ key }) => key.startsWith("k"));
  for (const { key } of posts) await socket.event(({ message }: Frame) => message?.content.includes(key));
  const eventOf = new Map(
    socket.events.flatMap(({ id: eventId, message }: Frame) => {
      const key = keysIn(message?.content ?? "")[0];
      return key === undefined ? [] : [[key, eventId] as const];
    }),
  );
  socket.close();
  return { deeds, queue: { id, lastEventId }, eventOf };
}

async function liveLane(owner: Client, lane: number, random: () => number, deeds: Deed[]): Promise<void> {
  const standing: Deed[] = [];
  for (let step = 0; step < stepsPerLane; step++) {
    const chance = random();
    const known = chance < 0.3 ? standing.shift() : undefined;
    const make = (kind: string, post: string | null, content: string | null): Deed => {
      const deed = { key: `${kind}${lane}-${step}z`, post, content, id: known?.id ?? 0, url: "", digest: "" };
      deeds.push(deed);
      return deed;
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
      const deed = make("u", null, null);
      deed.digest = digestOf(bytes);
      deed.url = (await done(sendFile(owner, bytes, '"f.bin"', keyed(deed)))).url;
    } else {
      const key = `k${lane}-${step}z`;
      // Some take pages of their own.
      const deed = make("k", key, `${key} ${"x".repeat(Math.floor(random() ** 4 * 9000))}`.trim());
      deed.id = (
        await done(owner.post("/messages", { ...placeOf(lane, step), content: deed.content }, keyed(deed)))
      ).id;
      standing.push(deed);
    }
  }
}

function placeOf(lane: number, step: number): Record<string, unknown> {
  if (lane === 0) return { type: "direct", to: [2] };
  return { type: "channel", to: "general", topic: lane === 1 ? `new ${step}` : `lane ${lane}` };
}

function keyed({ key }: Deed): Record<string, string> {
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

/** Lines of the trace at which things were asked, answered and told; the earliest at which the other side may know. */
export interface Timeline {
  readonly foundedAt: number;
  readonly registeredAt: number;
  readonly asked: ReadonlyMap<string, number>;
  readonly answered: ReadonlyMap<string, number>;
  readonly told: ReadonlyMap<string, number>;
}

export function timelineOf({ wires }: Recording, day: Day): Timeline {
  const asked = new Map<string, number>();
  const answered = new Map<string, number>();
  const told = new Map<string, number>();
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
    } else for (const key of keysIn(text)) if (!told.has(key)) told.set(key, start);
  }
  const firstSent = (part: string) =>
    wires.find(({ isSent, text }) => isSent && text.includes(part))?.start ?? Number.NaN;
  return { foundedAt: firstSent("Try: "), registeredAt: firstSent(day.queue.id), asked, answered, told };
}

export interface ExpectedPost {
  readonly key: string;
  /** 0: not known to anybody. */
  readonly id: number;
  /** What it may read; null: it may be missing. */
  readonly contents: readonly (string | null)[];
  readonly isTold: boolean;
}

/** What must hold after a cut. */
export interface Expected {
  readonly isFounded: boolean;
  readonly posts: readonly ExpectedPost[];
  readonly uploads: readonly { readonly url: string; readonly digest: string }[];
  readonly queue: { readonly id: string; readonly lastEventId: number } | null;
}

export function expectedAt(line: number, day: Day, timeline: Timeline): Expected {
  const isBefore = (at: number | undefined) => at !== undefined && at <= line;
  const isAnswered = ({ key }: Deed) => isBefore(timeline.answered.get(key));
  const asked = day.deeds.filter(({ key }) => isBefore(timeline.asked.get(key)));
  const told = [...timeline.told].flatMap(([key, at]) => (at <= line ? [day.eventOf.get(key) ?? 0] : []));
  return {
    isFounded: timeline.foundedAt <= line,
    posts: asked
      .filter(({ key, post }) => key === post)
      .map((post) => {
        const isTold = isBefore(timeline.told.get(post.key));
        const isThere = isAnswered(post) || isTold;
        return {
          key: post.key,
          id: isAnswered(post) ? post.id : 0,
          contents: contentsOf(post, asked, isThere, isAnswered),
          isTold,
        };
      }),
    uploads: asked.filter((deed) => deed.post === null && isAnswered(deed)).map(({ url, digest }) => ({ url, digest })),
    queue:
      timeline.registeredAt <= line
        ? { id: day.queue.id, lastEventId: Math.max(day.queue.lastEventId, ...told) }
        : null,
  };
}

/** All that is lost where nothing can be read any more. */
export function promisedBy({ posts, uploads }: Expected): string[] {
  const promised = posts.filter(({ contents }) => !contents.includes(null));
  return [...promised.map(({ key }) => `${key} is gone`), ...uploads.map(({ url }) => `the file ${url} is gone`)];
}

/** A post is changed once at most: until that is answered, both are possible. */
function contentsOf(post: Deed, asked: readonly Deed[], isThere: boolean, isAnswered: (deed: Deed) => boolean) {
  const change = asked.find((deed) => deed.post === post.key && deed !== post);
  if (change !== undefined && isAnswered(change)) return [change.content];
  return [post.content, ...(change === undefined ? [] : [change.content]), ...(isThere ? [] : [null])];
}
