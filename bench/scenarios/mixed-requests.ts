// The requests of the mix (bench/scenarios/mixed.ts), one user's of each kind, and the real server's responses to them,
// which the baseline sends.

import type { MixedAnswers } from "../baselines/mixed.ts";
import type { Api, User } from "../lib/api.ts";
import { buildRequest, buildUpload, MARKER } from "../lib/http-request.ts";
import type { MixedJob } from "../lib/job.ts";
import { seededRandom } from "../lib/statistics.ts";
import type { Server } from "../lib/target.ts";

const TOPIC = "bench mixed";
const PAGE_MESSAGES = 20;
const UPLOAD_BYTES = 10_000;
const LETTERS = "abcdefghijklmnopqrstuvwxyz ";

export interface MixedWorld {
  readonly api: Api;
  readonly server: Server;
  readonly channelId: number;
  readonly seed: number;
}

type Forms = Readonly<Record<"presence" | "star" | "unstar" | "start" | "stop" | "post", Record<string, string>>>;

function formsOf(channelId: number, messageId: number): Forms {
  const where = { type: "channel", stream_id: String(channelId), topic: TOPIC };
  const star = { messages: JSON.stringify([messageId]), flag: "starred" };
  return {
    presence: {
      status: "active",
      ping_only: "false",
      new_user_input: "true",
      slim_presence: "true",
      last_update_id: "0",
    },
    star: { ...star, op: "add" },
    unstar: { ...star, op: "remove" },
    start: { ...where, op: "start" },
    stop: { ...where, op: "stop" },
    post: { type: "channel", to: String(channelId), topic: TOPIC, content: `${MARKER} a message among all the rest` },
  };
}

function pageQuery(channelId: number): Record<string, string> {
  const narrow = [
    { operator: "channel", operand: channelId },
    { operator: "topic", operand: TOPIC },
  ];
  return { anchor: "newest", num_before: String(PAGE_MESSAGES), num_after: "0", narrow: JSON.stringify(narrow) };
}

/** The requests of a user, of each kind in turn. */
export function requestsOf(
  { server, channelId, seed }: MixedWorld,
  { authorization }: User,
  messageId: number,
): MixedJob["people"][number] {
  const host = `${server.address.host}:${server.address.port}`;
  const forms = formsOf(channelId, messageId);
  const post = (path: string, form: Record<string, string>): string =>
    buildRequest({ method: "POST", path: `/api/v1${path}`, authorization, form, host });
  const page = `/api/v1/messages?${new URLSearchParams(pageQuery(channelId))}`;
  return {
    presence: [post("/users/me/presence", forms.presence)],
    upload: [
      buildUpload({ path: "/api/v1/user_uploads", authorization, host, name: "notes.txt", content: textOf(seed) }),
    ],
    page: [buildRequest({ method: "GET", path: page, authorization, host })],
    flag: [post("/messages/flags", forms.star), post("/messages/flags", forms.unstar)],
    typing: [post("/typing", forms.start), post("/typing", forms.stop)],
    post: [post("/messages", forms.post)],
  };
}

function textOf(seed: number): string {
  const random = seededRandom(seed);
  return Array.from({ length: UPLOAD_BYTES }, () => LETTERS[Math.floor(random() * LETTERS.length)] ?? "").join("");
}

/**
 * Fills a page of messages, sends each request once, and keeps the responses. @returns a message that may be starred
 */
export async function captureAnswers(
  world: MixedWorld,
  people: readonly User[],
): Promise<{ readonly answers: MixedAnswers; readonly messageId: number }> {
  const { api, channelId } = world;
  const [person] = people;
  if (person === undefined) throw new Error("the mix needs users");
  const ask = (path: string, form: Record<string, string>, method: "GET" | "POST" = "POST"): Promise<string> =>
    api.callAs(person.authorization, method, path, form);
  const { post } = formsOf(channelId, 0);
  const queue = JSON.parse(
    await ask("/register", {
      event_types: JSON.stringify(["message"]),
      fetch_event_types: "[]",
      apply_markdown: "true",
    }),
  ) as { readonly queue_id: string; readonly last_event_id: number };
  // Another user's message, because authors have other flags on their own messages.
  const posted = await api.call("POST", "/messages", post);
  const { events } = JSON.parse(
    await ask("/events", { queue_id: queue.queue_id, last_event_id: String(queue.last_event_id) }, "GET"),
  ) as { readonly events: readonly [{ readonly id: number }] };
  await api.callAs(person.authorization, "DELETE", "/events", { queue_id: queue.queue_id });
  for (let index = 1; index < PAGE_MESSAGES; index += 1) await api.call("POST", "/messages", post);
  const { id: messageId } = JSON.parse(posted) as { readonly id: number };
  const forms = formsOf(channelId, messageId);
  const { id: _, ...event } = events[0];
  const flag = await ask("/messages/flags", forms.star);
  await ask("/messages/flags", forms.unstar);
  const form = new FormData();
  form.set("filename", new Blob([textOf(world.seed)], { type: "text/plain" }), "notes.txt");
  const answers: MixedAnswers = {
    page: await ask("/messages", pageQuery(channelId), "GET"),
    presence: await ask("/users/me/presence", forms.presence),
    upload: await api.send("POST", "/user_uploads", person.authorization, form),
    flag,
    typing: await ask("/typing", forms.start),
    post: posted,
    event: JSON.stringify({ ...event, id: 0 }),
  };
  await ask("/typing", forms.stop);
  return { answers, messageId };
}
