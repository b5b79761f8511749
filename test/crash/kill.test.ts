/**
 * Kills the process repeatedly in the middle of 64 concurrent posts, and restarts it (M1, M2, M3, M8, E1, D25): every
 * acknowledged message exists once, nothing is partial, repeats settle unacknowledged messages, and the activity of
 * kill-activity.ts keeps its promises. `KILLS` sets the number of kills (10), `SEED` their moments.
 */
import { join } from "node:path";
import fc from "fast-check";
import t, { type Test } from "tap";
import { openEnvironment } from "../../src/store/environment.ts";
import { auditKeptAnswers, auditRealm } from "../support/audit.ts";
import { ascends, everything, readQueue, type Stored } from "../support/kept-messages.ts";
import { runCli, type ServerProgram, startProgram } from "../support/process.ts";
import { privateAllowed } from "../support/receiver.ts";
import { seedOf } from "../support/seed.ts";
import { temporaryFolder } from "../support/server.ts";
import { Hook, NewUser, Schedule, SocketReader, TopicBeingDeleted } from "./kill-activity.ts";
import { type Kill, kill, lanes, type Post, postUntilKilled, send } from "./kill-load.ts";

const kills = Number(process.env["KILLS"] ?? 10);
/** One of this many rounds has a topic being deleted. */
const roundsPerDeletion = 10;

function isPost({ content }: Stored): boolean {
  return /^r\d+-/.test(content);
}

/**
 * After the restart: checks that acknowledged posts exist, and repeats the rest. @param stored messages since the last
 * kill
 */
async function settlePosts(t: Test, server: ServerProgram, posts: readonly Post[], stored: readonly Stored[]) {
  const idOf = new Map(stored.map(({ id, content }) => [content, id]));
  t.equal(idOf.size, stored.length, "no message twice");
  const acknowledged = posts.filter(({ id }) => id !== null);
  t.strictSame(
    acknowledged.filter(({ content, id }) => idOf.get(content) !== id),
    [],
    `each of ${acknowledged.length} acknowledged posts exists under its id`,
  );
  const open = posts.filter(({ id }) => id === null);
  const isStored = ({ content }: Post) => idOf.has(content);
  // How many of them reached the disk depends on the moment. The kill must at least have interrupted some.
  t.ok(open.length > 0, `${open.length} were in flight, ${open.filter(isStored).length} of them on disk`);
  await Promise.all(open.map((post) => send(server.owner, post)));
  t.strictSame(
    open.filter((post) => isStored(post) && idOf.get(post.content) !== post.id),
    [],
    "[D25] a repeat of a stored post returns its first response",
  );
  for (let lane = 0; lane < lanes; lane++) {
    const ids = posts.flatMap((post) => (post.lane === lane ? [post.id ?? 0] : []));
    if (!ascends(ids)) t.fail(`lane ${lane}: ${ids}`);
  }
  return { acknowledged: acknowledged.length, saved: open.filter(isStored).length };
}

/** Only while no process has it open. */
async function auditFolder(t: Test, dataDir: string): Promise<void> {
  const environment = openEnvironment(join(dataDir, "realms", "1"));
  t.strictSame([...auditRealm(environment), ...auditKeptAnswers(environment)], []);
  await environment.close();
}

interface Round {
  readonly t: Test;
  readonly number: number;
  readonly planned: Kill;
  readonly dataDir: string;
}

class BackgroundActivity {
  readonly reader = new SocketReader();
  readonly schedule = new Schedule();
  readonly hook: Hook;
  readonly newUser: NewUser;
  /** Topics that the kill left half deleted. */
  parked = 0;

  constructor(hook: Hook, newUser: NewUser) {
    this.hook = hook;
    this.newUser = newUser;
  }

  /** Posts until the server is killed, with everything else running. */
  async untilKilled({ t, number, planned, dataDir }: Round, server: ServerProgram) {
    const deletion = number % roundsPerDeletion === 0 ? await TopicBeingDeleted.fill(server, number) : null;
    await this.reader.begin(server);
    const others = [this.newUser.begin(server, number), this.schedule.begin(server, number)];
    const posts = await postUntilKilled(server, number, planned, async () => {
      deletion?.begin(server);
      if (deletion !== null) await this.reader.event(({ type }) => type === "delete_message");
    });
    await Promise.all([...others, this.reader.end()]);
    t.equal((await server.program.exited).signal, "SIGKILL");
    if (number % roundsPerDeletion === 0) await auditFolder(t, dataDir);
    return { posts, deletion };
  }
}

t.test("[M1, M2, M3, M8] every acknowledged message exists once after kill -9 amid 64 concurrent posts", async (t) => {
  const seed = seedOf(t);
  const dataDir = temporaryFolder(t);
  const start = () => startProgram(t, dataDir, privateAllowed.environment);
  let server = await start();
  const all: Post[] = [];
  const sum = { acknowledged: 0, saved: 0 };
  const queue = await server.owner.register({ event_types: ["message"] });
  let polled = queue.last_event_id;
  let newest = 0;
  const background = new BackgroundActivity(await Hook.start(t, server), await NewUser.join(server, dataDir));
  const { reader, schedule, hook, newUser } = background;

  for (const [number, planned] of fc.sample(kill, { numRuns: kills, seed }).entries()) {
    const { posts, deletion } = await background.untilKilled({ t, number, planned, dataDir }, server);
    all.push(...posts);
    server = await start();
    const since = await everything(server.owner, newest);
    const settled = await settlePosts(t, server, posts, since.filter(isPost));
    sum.acknowledged += settled.acknowledged;
    sum.saved += settled.saved;
    await schedule.settle(server.owner);
    if (deletion !== null && (await deletion.settle(t, server)) > 0) background.parked++;

    const read = await readQueue(server.owner, queue.queue_id, polled);
    const now = await everything(server.owner, newest);
    const known = new Set(now.map(({ id }) => id));
    const received = read?.messageIds.filter((id) => known.has(id)) ?? [];
    t.strictSame(
      received,
      [...known].filter((id) => id <= (received.at(-1) ?? 0)),
      "[E1, E2] the earlier queue delivers each message once",
    );
    t.ok(ascends(read?.eventIds ?? [0, 0]), "[E1] ids of events increase across the kill");
    polled = read?.eventIds.at(-1) ?? polled;
    newest = received.at(-1) ?? newest;
  }

  await schedule.over(server);
  const stored = await everything(server.owner);
  t.strictSame(
    stored.map(({ content }) => content).sort(),
    [...all.map(({ content }) => content), ...schedule.contents].sort(),
    "in the end every post and every scheduled message exists once",
  );
  await hook.carried(stored.map(({ content }) => content).filter((content) => content.endsWith("**")));
  t.strictSame(new Set(await newUser.mails()), new Set([1]), `${newUser.programs.length} mails`);
  await reader.begin(server);
  await reader.event(({ message }) => message?.id === stored.at(-1)?.id);
  await reader.end();
  const known = new Set(stored.map(({ id }) => id));
  t.strictSame(
    reader.messageIds.filter((id) => known.has(id)),
    [...known],
    "[E2] the sockets received each message once",
  );
  t.ok(reader.isInOrder, "[E1] in order");

  t.equal((await server.program.end("SIGTERM")).code, 0);
  const checked = await runCli(t, dataDir, "check");
  t.strictSame([checked.code, checked.stdout], [0, "no problems\n"]);
  await auditFolder(t, dataDir);
  const environment = openEnvironment(join(dataDir, "realms", "1"));
  t.teardown(() => environment.close());
  t.strictSame(
    [environment.count("webhookDeliveries"), environment.count("mails")],
    [0, 0],
    "[M3] delivered webhooks are marked",
  );
  const parked = `${background.parked} deletions parked`;
  t.comment(
    `${kills} kills, ${sum.acknowledged} acknowledged, ${sum.saved} on disk unacknowledged, ${parked}, ${hook.calls} hooks`,
  );
});
