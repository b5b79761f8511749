/**
 * The process is killed in the middle of 64 concurrent posts, again and again, and started anew (M1, M2, E1, D25): every
 * message that was acknowledged is there, once; nothing is half there; what was not acknowledged is settled by its repeat.
 */
import { connect } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import t from "tap";
import { openEnvironment } from "../../src/store/environment.ts";
import { auditKeptAnswers, auditRealm } from "../support/audit.ts";
import { type Client, encodeForm } from "../support/client.ts";
import { runCli, type ServerProgram, startProgram } from "../support/process.ts";
import { seedOf } from "../support/seed.ts";
import { temporaryFolder } from "../support/server.ts";

const lanes = 64;
const rounds = 3;
/** Posts per round whose answers nobody reads: on disk and yet not acknowledged. */
const unheard = 8;

interface Post {
  readonly key: string;
  readonly lane: number;
  /** null: not acknowledged. */
  id: number | null;
}

function paramsOf(post: Post): Record<string, unknown> {
  // Some in topics of their own, some direct: new conversations, with more rows to lose, and old ones.
  if (post.lane % 8 === 0) return { type: "direct", to: [2], content: post.key };
  const topic = post.lane % 8 === 1 ? post.key : `lane ${post.lane}`;
  return { type: "channel", to: "general", topic, content: post.key };
}

async function send(client: Client, post: Post): Promise<void> {
  const answer = await client.post("/messages", paramsOf(post), { "Idempotency-Key": post.key });
  if (answer.status !== 200) throw new Error(`${post.key}: ${JSON.stringify(answer.body)}`);
  post.id = answer.body.id as number;
}

/**
 * Sends a post whose answer nobody takes for one: whether it was done, only its repeat can tell.
 * @returns resolves when it is on disk
 */
function sendUnheard(client: Client, post: Post): Promise<void> {
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
  // It ends with the server.
  tcp.on("error", () => undefined);
  return new Promise((resolve) => tcp.once("data", () => resolve()));
}

interface Kill {
  /** After so many answers, */
  readonly acknowledgements: number;
  /** and so many passes of this process's loop: some kills come while a turn is on its way to the disk. */
  readonly passes: number;
}

const kill: fc.Arbitrary<Kill> = fc.record({
  acknowledgements: fc.integer({ min: 30, max: 300 }),
  passes: fc.integer({ min: 0, max: 20 }),
});

async function killAfter(server: ServerProgram, passes: number): Promise<void> {
  for (let pass = 0; pass < passes; pass++) await new Promise<void>((resolve) => setImmediate(resolve));
  await server.program.end("SIGKILL");
}

/** Posts on every lane, one after the other, until the server is gone. */
async function postUntilKilled(
  server: ServerProgram,
  round: number,
  { acknowledgements, passes }: Kill,
): Promise<Post[]> {
  const posts: Post[] = Array.from({ length: unheard }, (_, index) => ({
    key: `r${round}-u${index}`,
    lane: -1,
    id: null,
  }));
  const areDone = Promise.all(posts.map((post) => sendUnheard(server.owner, post)));
  let acknowledged = 0;
  const work = Array.from({ length: lanes }, async (_, lane) => {
    for (let count = 0; ; count++) {
      const post: Post = { key: `r${round}-l${lane}-${count}`, lane, id: null };
      posts.push(post);
      try {
        await send(server.owner, post);
      } catch (error) {
        // Cut off by the kill: fetch says so by a TypeError. Anything else is a wrong answer.
        if (error instanceof TypeError) return;
        throw error;
      }
      acknowledged++;
      if (acknowledged === acknowledgements) void areDone.then(() => killAfter(server, passes));
    }
  });
  await Promise.all(work);
  return posts;
}

interface Stored {
  readonly id: number;
  readonly content: string;
}

async function everything(client: Client): Promise<Stored[]> {
  const found: Stored[] = [];
  for (let anchor = 0; ; anchor = found.at(-1)?.id ?? 0) {
    const { body } = await client.get("/messages", {
      anchor: String(anchor),
      include_anchor: false,
      num_before: 0,
      num_after: 1000,
      apply_markdown: false,
    });
    found.push(...(body.messages as Stored[]));
    if (body.found_newest === true) return found;
  }
}

/** Ids of messages in the queue's events, in order, and the ids of the events. */
async function readQueue(client: Client, queueId: string, lastEventId: number) {
  const messageIds: number[] = [];
  const eventIds: number[] = [];
  for (let last = lastEventId; ; last = eventIds.at(-1) ?? last) {
    const { body } = await client.get("/events", { queue_id: queueId, last_event_id: last, dont_block: true });
    const events = body.events as { id: number; type: string; message?: { id: number } }[];
    if (events.length === 0) return { messageIds, eventIds };
    eventIds.push(...events.map(({ id }) => id));
    messageIds.push(...events.flatMap(({ message }) => (message === undefined ? [] : [message.id])));
  }
}

function ascends(numbers: readonly number[]): boolean {
  return numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0));
}

t.test("[M1, M2] killed amid 64 concurrent posts: all that was acknowledged is there once", async (t) => {
  const seed = seedOf(t);
  const dataDir = temporaryFolder(t);
  const kills = fc.sample(kill, { numRuns: rounds, seed });
  const all: Post[] = [];
  let server = await startProgram(t, dataDir);
  const queue = await server.owner.register({ event_types: ["message"] });
  for (const [round, planned] of kills.entries()) {
    const posts = await postUntilKilled(server, round, planned);
    t.equal((await server.program.exited).signal, "SIGKILL");
    all.push(...posts);
    server = await startProgram(t, dataDir);

    const stored = await everything(server.owner);
    const idOf = new Map(stored.map(({ id, content }) => [content, id]));
    t.equal(idOf.size, stored.length, "no message twice");
    const acknowledged = posts.filter(({ id }) => id !== null);
    t.ok(acknowledged.length >= planned.acknowledgements, `${acknowledged.length} were acknowledged`);
    t.strictSame(
      acknowledged.filter(({ key, id }) => idOf.get(key) !== id),
      [],
      "each is there, under its id",
    );

    const open = posts.filter(({ id }) => id === null);
    // How many of them reached the disk is the moment's business; that the kill met work is not.
    t.ok(
      open.length > 0,
      `${open.length} were in flight, ${open.filter(({ key }) => idOf.has(key)).length} of them on disk`,
    );
    await Promise.all(open.map((post) => send(server.owner, post)));
    t.strictSame(
      open.filter(({ key, id }) => idOf.has(key) && idOf.get(key) !== id),
      [],
      "[D25] a repeat of what is on disk gets its first answer",
    );
    for (let lane = 0; lane < lanes; lane++) {
      const ids = posts.flatMap((post) => (post.lane === lane ? [post.id ?? 0] : []));
      if (!ascends(ids)) t.fail(`lane ${lane} of round ${round}: ${ids}`);
    }
  }

  const stored = await everything(server.owner);
  t.strictSame(
    stored.map(({ content }) => content).sort(),
    all.map(({ key }) => key).sort(),
    "in the end every post is there once",
  );
  t.ok(ascends(stored.map(({ id }) => id)));
  const { messageIds, eventIds } = await readQueue(server.owner, queue.queue_id, queue.last_event_id);
  t.strictSame(
    messageIds,
    stored.map(({ id }) => id),
    "[E1, E2] the queue of before the first kill tells of each once, in order",
  );
  t.ok(ascends(eventIds), "[E1] ids of events increase across the kills");

  t.equal((await server.program.end("SIGTERM")).code, 0);
  const checked = await runCli(t, dataDir, "check");
  t.strictSame([checked.code, checked.stdout], [0, "no problems\n"]);
  const environment = openEnvironment(join(dataDir, "realms", "1"));
  t.teardown(() => environment.close());
  t.strictSame([...auditRealm(environment), ...auditKeptAnswers(environment)], []);
  t.equal(environment.count("idempotency"), all.length, "each key was kept with its message");
});
