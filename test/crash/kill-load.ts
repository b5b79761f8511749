/**
 * Several organizations post concurrently until their server is killed, each post with an idempotency key, so that a
 * repeat determines what happened to it.
 */
import { connect } from "node:net";
import fc from "fast-check";
import { type Answer, type Client, encodeForm } from "../support/client.ts";
import { HostClient } from "../support/http.ts";
import type { Program } from "../support/process.ts";

/** Posts per round and organization whose responses are not read: on disk, but not acknowledged. */
const unacknowledged = 8;

/** An organization that posts. */
export interface Target {
  readonly name: string;
  readonly owner: HostClient;
  /** How many posts it has in flight. */
  readonly lanes: number;
}

export interface Post {
  /** The same in each organization, unlike the content. */
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

function newPost(target: Target, round: number, lane: number, name: string): Post {
  const key = `r${round}-${name}`;
  const content = `${key} in ${target.name}`;
  // Some go to an outgoing webhook, too, where there is one.
  return { key, lane, content: lane % 16 === 2 ? `${content} @**The hook**` : content, id: null };
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
function sendWithoutReading(client: HostClient, post: Post): Promise<void> {
  const { hostname, port } = new URL(client.url);
  const body = encodeForm(paramsOf(post));
  const head = [
    "POST /api/v1/messages HTTP/1.1",
    `Host: ${client.host}`,
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
  /** The kill follows after this many responses, at least one of them in each organization, */
  readonly acknowledgements: number;
  /** and this many more passes of this process's event loop, so that some kills interrupt a turn before its flush. */
  readonly passes: number;
}

export const kill: fc.Arbitrary<Kill> = fc.record({
  acknowledgements: fc.integer({ min: 20, max: 120 }),
  passes: fc.integer({ min: 0, max: 20 }),
});

async function killAfter(program: Program, passes: number): Promise<void> {
  for (let pass = 0; pass < passes; pass++) await new Promise<void>((resolve) => setImmediate(resolve));
  await program.end("SIGKILL");
}

const brokenConnection = new Set(["ECONNRESET", "ECONNREFUSED", "EPIPE"]);

/** fetch reports a connection that broke as a TypeError. */
function isBroken(error: unknown): boolean {
  return error instanceof TypeError || brokenConnection.has((error as NodeJS.ErrnoException).code ?? "");
}

/** Whether the kill interrupted the request. An error of any other kind is a wrong response. */
export async function unlessKilled(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (isBroken(error)) return false;
    throw error;
  }
}

/**
 * The server closes a connection that was idle for 10 seconds. On a busy machine this process may notice it only when
 * it sends the next request there, so a request whose connection breaks is repeated once, on a new connection. A server
 * that crashed is not started again by anybody and refuses that connection.
 */
export class RepeatingClient extends HostClient {
  readonly #onNewConnection: HostClient;

  constructor(client: Client, host: string) {
    super(client, host);
    this.#onNewConnection = new HostClient(client, host, false);
  }

  override anonymous(): RepeatingClient {
    return new RepeatingClient(super.anonymous(), this.host);
  }

  override async send(...request: Parameters<HostClient["send"]>): Promise<Answer> {
    try {
      return await super.send(...request);
    } catch (error) {
      if (!isBroken(error)) throw error;
      return this.#onNewConnection.send(...request);
    }
  }
}

/** What one organization posts in one round. */
class Load {
  readonly posts: Post[];
  readonly #target: Target;
  readonly #round: number;

  constructor(target: Target, round: number) {
    this.#target = target;
    this.#round = round;
    this.posts = Array.from({ length: unacknowledged }, (_, index) => newPost(target, round, -1, `u${index}`));
  }

  sendWithoutReading(): Promise<unknown> {
    return Promise.all(this.posts.map((post) => sendWithoutReading(this.#target.owner, post)));
  }

  /** Posts on every lane, one after the other, until the server is gone. */
  async post(onAcknowledged: () => void): Promise<void> {
    const work = Array.from({ length: this.#target.lanes }, async (_, lane) => {
      for (let count = 0; ; count++) {
        const post = newPost(this.#target, this.#round, lane, `l${lane}-${count}`);
        this.posts.push(post);
        if (!(await unlessKilled(send(this.#target.owner, post)))) return;
        onAcknowledged();
      }
    });
    await Promise.all(work);
  }
}

export interface KillRound {
  readonly program: Program;
  readonly targets: readonly Target[];
  readonly number: number;
  readonly planned: Kill;
  /** Started when the kill is due, and awaited before it. */
  readonly lastAct: () => Promise<unknown>;
}

/** @returns the posts of each organization, in the order of the organizations */
export async function postUntilKilled({ program, targets, number, planned, lastAct }: KillRound): Promise<Post[][]> {
  const loads = targets.map((target) => new Load(target, number));
  const unread = Promise.all(loads.map((load) => load.sendWithoutReading()));
  const waitedFor = new Set(loads);
  let acknowledged = 0;
  let isDue = false;
  const work = loads.map((load) =>
    load.post(() => {
      acknowledged++;
      waitedFor.delete(load);
      if (isDue || acknowledged < planned.acknowledgements || waitedFor.size > 0) return;
      isDue = true;
      void Promise.all([unread, lastAct()]).then(() => killAfter(program, planned.passes));
    }),
  );
  await Promise.all(work);
  return loads.map(({ posts }) => posts);
}
