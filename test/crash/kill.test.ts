/**
 * Kills the process repeatedly while three organizations post, 96 posts at a time, and restarts it (M1, M2, M3, M8, S1,
 * E1, D25): in each, every acknowledged message exists once, nothing is partial, repeats settle unacknowledged messages,
 * and in the first the activity of kill-activity.ts keeps its promises. `KILLS` sets the number of kills (10), `SEED`
 * their moments.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import t, { type Test } from "tap";
import { openLmdb } from "../../src/store/lmdb.ts";
import { runCli, type ServerProgram, startProgram } from "../support/process.ts";
import { privateAllowed } from "../support/receiver.ts";
import { seedOf } from "../support/seed.ts";
import { temporaryFolder } from "../support/server.ts";
import { Hook, NewUser, Schedule, TopicBeingDeleted } from "./kill-activity.ts";
import { type Kill, kill, postUntilKilled } from "./kill-load.ts";
import { Organization } from "./kill-organization.ts";

const kills = Number(process.env["KILLS"] ?? 10);
/** One of this many rounds has a topic being deleted. */
const roundsPerDeletion = 10;
/** Organizations beside the first one, which share its journal. */
const others = [
  { id: 2, lanes: 16, label: "sales" },
  { id: 3, lanes: 16, label: "support" },
];

/** Creates the other organizations while the server runs. */
async function createOthers(t: Test, dataDir: string): Promise<void> {
  const list = join(temporaryFolder(t), "organizations");
  // The owners have one address, so that only the organization distinguishes them.
  const lines = others.map(({ label }) => JSON.stringify({ label, email: "owner@localhost" }));
  writeFileSync(list, lines.join("\n"));
  const made = await runCli(t, dataDir, "create-realm", "--from", list);
  t.equal(made.code, 0, made.stderr);
}

interface Round {
  readonly t: Test;
  readonly number: number;
  readonly planned: Kill;
  readonly organizations: readonly Organization[];
}

/** What the first organization does besides posts. */
class BackgroundActivity {
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
  async untilKilled({ t, number, planned, organizations }: Round, server: ServerProgram) {
    const deletion = number % roundsPerDeletion === 0 ? await TopicBeingDeleted.fill(server, number) : null;
    await Promise.all(organizations.map(({ reader, owner }) => reader.begin(owner)));
    const beside = [this.newUser.begin(server, number), this.schedule.begin(server, number)];
    const lastAct = async () => {
      deletion?.begin(server);
      if (deletion !== null) await organizations[0]?.reader.event(({ type }) => type === "delete_message");
    };
    const { program } = server;
    const posts = await postUntilKilled({ program, targets: organizations, number, planned, lastAct });
    await Promise.all([...beside, ...organizations.map(({ reader }) => reader.end())]);
    t.equal((await program.exited).signal, "SIGKILL");
    if (number % roundsPerDeletion === 0) for (const organization of organizations) await organization.audit(t);
    return { posts, deletion };
  }
}

t.test("[M1, M2, M3, M8, S1] each acknowledged message is there once after kill -9 amid 96 posts", async (t) => {
  const seed = seedOf(t);
  const dataDir = temporaryFolder(t);
  const first = new Organization(dataDir, { id: 1, lanes: 64, label: "" });
  const organizations = [first, ...others.map((plan) => new Organization(dataDir, plan))];
  const run = () => startProgram(t, dataDir, privateAllowed.environment);
  const attach = (running: ServerProgram): ServerProgram => {
    for (const organization of organizations) organization.moveTo(running);
    return { ...running, owner: first.owner };
  };
  const founded = await run();
  const [hook, newUser] = await Promise.all([
    Hook.start(t, founded),
    NewUser.join(founded, dataDir),
    createOthers(t, dataDir),
  ]);
  const background = new BackgroundActivity(hook, newUser);
  let server = attach(founded);
  for (const organization of organizations) await organization.register();
  const { schedule } = background;

  for (const [number, planned] of fc.sample(kill, { numRuns: kills, seed }).entries()) {
    const { posts, deletion } = await background.untilKilled({ t, number, planned, organizations }, server);
    server = attach(await run());
    await Promise.all(organizations.map((organization, index) => organization.settle(t, posts[index] ?? [])));
    await schedule.settle(server.owner);
    if (deletion !== null && (await deletion.settle(t, server)) > 0) background.parked++;
  }

  await schedule.over(server);
  const [stored = []] = await Promise.all(
    organizations.map((organization) => organization.end(t, organization === first ? schedule.contents : [])),
  );
  await hook.carried(stored.map(({ content }) => content).filter((content) => content.endsWith("**")));
  t.strictSame(new Set(await newUser.mails()), new Set([1]), `${newUser.programs.length} mails`);

  // What was called before the last kill and not marked is sent again, and may still be under way.
  const pending = async (): Promise<number> => {
    const { emails, webhooks } = (await server.owner.get("/realm/statistics")).body.waiting_deliveries;
    return emails + webhooks;
  };
  while ((await pending()) > 0);
  t.equal((await server.program.end("SIGTERM")).code, 0);
  const checked = await runCli(t, dataDir, "check");
  t.strictSame([checked.code, checked.stdout], [0, "no problems\n"]);
  for (const organization of organizations) await organization.audit(t);
  const lmdb = openLmdb(first.folder);
  t.teardown(() => lmdb.close());
  t.strictSame([lmdb.count("webhookDeliveries"), lmdb.count("mails")], [0, 0], "[M3] delivered webhooks are marked");
  const parked = `${background.parked} deletions parked`;
  const sums = organizations.map(
    ({ name, acknowledged, saved }) => `${name}: ${acknowledged} acknowledged, ${saved} on disk unacknowledged`,
  );
  t.comment(`${kills} kills, ${sums.join("; ")}; ${parked}, ${hook.calls} hooks`);
});
