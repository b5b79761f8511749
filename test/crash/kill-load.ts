/**
 * 64 users post concurrently until the server is killed, each post with an idempotency key, so that a repeat determines
 * what happened to it.
 */
import { connect } from "node:net";
import fc from "fast-check";
import { type Client, encodeForm } from "../support/client.ts";
import type { ServerProgram } from "../support/process.ts";

export const lanes = 64;
/** Posts per round whose responses are not read: on disk, but not acknowledged. */
const unacknowledged = 8;

export interface Post {
  readonly key: string;
  readonly lane: number;
  readonly content: string;
  /** null: not acknowledged. */
  id: number | null;
}

/**
 * Some posts start conversations, in topics of their own or as direct messages, because these write more rows; others
 * are in existing ones.
 */
function paramsOf({ key, lane, content }: Post): Record<string, unknown> {
  if (lane % 8 === 0) return { type: "direct", to: [2], content };
  return { type: "channel", to: "general", topic: lane % 8 === 1 ? key : `lane ${lane}`, content };
}

function newPost(round: number, lane: number, name: string): Post {
  const key = `r${round}-${name}`;
  // Some go to an outgoing webhook, too.
  return { key, lane, content: lane % 16 === 2 ? `${key} @**The hook**` : key, id: null };
}

export async function send(client: Client, post: Post): Promise<void> {
  const answer = await client.post("/messages", paramsOf(post), { "Idempotency-Key": post.key });
  if (answer.status !== 200) throw new Error(`${post.key}: ${JSON.stringify(answer.body)}`);
  post.id = answer.body.id as number;
}

/**
 * Sends a post whose response is discarded, so that only a repeat can tell whether it was executed.
 * @returns resolves when it is on disk
 */
function sendWithoutReading(client: Client, post: Post): Promise<void> {
  const { hostname, port } = new URL(client.url);
  const body = encodeForm(paramsOf(post));
  const head = [
    "POST /api/v1/messages HTTP/1.1",
    `Host: ${hostname}:${port}`,
    `Authorization: ${client.authorization}`,
    `Idempotency-Key: ${post.key}`,
    "Content-Type: application/x-www-form-urlencoded",
    `Content-Length: ${body.length}`,
  ];
  const tcp = connect(Number(port), hostname, () => tcp.write(`${head.join("\r\n")}\r\n\r\n${body}`));
  // The connection ends with the server.
  tcp.on("error", () => undefined);
  return new Promise((resolve) => tcp.once("data", () => resolve()));
}

export interface Kill {
  /** The kill follows after this many responses, */
  readonly acknowledgements: number;
  /** and this many more passes of this process's event loop, so that some kills interrupt a turn before its flush. */
  readonly passes: number;
}

export const kill: fc.Arbitrary<Kill> = fc.record({
  acknowledgements: fc.integer({ min: 20, max: 120 }),
  passes: fc.integer({ min: 0, max: 20 }),
});

async function killAfter(server: ServerProgram, passes: number): Promise<void> {
  for (let pass = 0; pass < passes; pass++) await new Promise<void>((resolve) => setImmediate(resolve));
  await server.program.end("SIGKILL");
}

/** Whether the kill interrupted the request, which fetch reports as a TypeError. Anything else is a wrong response. */
export async function unlessKilled(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/**
 * Posts on every lane, one after the other, until the server is gone.
 * @param lastAct started then, and awaited before the kill
 */
export async function postUntilKilled(
  server: ServerProgram,
  round: number,
  { acknowledgements, passes }: Kill,
  lastAct: () => Promise<unknown>,
): Promise<Post[]> {
  const posts = Array.from({ length: unacknowledged }, (_, index) => newPost(round, -1, `u${index}`));
  const unread = Promise.all(posts.map((post) => sendWithoutReading(server.owner, post)));
  let acknowledged = 0;
  const work = Array.from({ length: lanes }, async (_, lane) => {
    for (let count = 0; ; count++) {
      const post = newPost(round, lane, `l${lane}-${count}`);
      posts.push(post);
      if (!(await unlessKilled(send(server.owner, post)))) return;
      acknowledged++;
      if (acknowledged === acknowledgements) {
        void Promise.all([unread, lastAct()]).then(() => killAfter(server, passes));
      }
    }
  });
  await Promise.all(work);
  return posts;
}
