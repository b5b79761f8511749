/**
 * Random days of scheduled messages and reminders, compared with a naive model (M3, M7, M8): messages created, changed,
 * deleted and due in any order, with restarts in between, are posted once, in their last form and at their time, and
 * events lead to the same lists as a fresh fetch.
 */
import fc from "fast-check";
import t, { type Test } from "tap";
import { Client, type Event, type Follower } from "../support/client.ts";
import { type ClockedServer, startClockedServer } from "../support/realtime-clock.ts";
import { followLists, freshLists, listsByEvents, newestOf, schedule, timersLeft } from "../support/scheduled.ts";
import { seedOf } from "../support/seed.ts";
import { temporaryFolder } from "../support/server.ts";

type Step =
  | { readonly kind: "schedule"; readonly inS: number; readonly isDirect: boolean }
  | { readonly kind: "edit" | "move" | "delete"; readonly pick: number; readonly inS: number }
  | { readonly kind: "remind"; readonly inS: number }
  | { readonly kind: "pass"; readonly seconds: number }
  | { readonly kind: "archive" | "restart" };

const inS = fc.integer({ min: 1, max: 40 });
const pick = fc.nat({ max: 20 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("schedule" as const), inS, isDirect: fc.boolean() }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constantFrom("edit" as const, "move" as const, "delete" as const), pick, inS }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("remind" as const), inS }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("pass" as const), seconds: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("archive" as const, "restart" as const) }) },
);

interface Waiting {
  readonly id: number;
  readonly content: string;
  readonly dueS: number;
  readonly isDirect: boolean;
  readonly hasFailed: boolean;
  /** Increases with each change of any message; orders messages by their last change. */
  readonly changedAs: number;
}

/** The order of lists. */
function inOrder(a: Waiting, b: Waiting): number {
  return a.dueS - b.dueS || a.id - b.id;
}

/** The order of posting: within a second, the one changed least recently first. */
function inTurn(a: Waiting, b: Waiting): number {
  return a.dueS - b.dueS || a.changedAs - b.changedAs;
}

/** The expected state, in seconds, without actors, rows and timers. */
class Model {
  readonly waiting: Waiting[] = [];
  readonly posted: string[] = [];
  reminders: number[] = [];
  isArchived = false;

  /** Posts everything that is due up to then, in order of time. */
  passTo(nowS: number): void {
    this.reminders = this.reminders.filter((dueS) => dueS > nowS);
    const due = this.waiting.filter((one) => one.dueS <= nowS && !one.hasFailed);
    for (const one of due.sort(inTurn)) {
      if (this.isArchived && !one.isDirect) this.replace({ ...one, hasFailed: true });
      else {
        this.posted.push(one.content);
        this.drop(one.id);
      }
    }
  }

  replace(changed: Waiting): void {
    const index = this.waiting.findIndex(({ id }) => id === changed.id);
    this.waiting[index] = changed;
  }

  drop(id: number): void {
    this.waiting.splice(
      this.waiting.findIndex((one) => one.id === id),
      1,
    );
  }
}

/** A server, one user, and the model of their actions. */
class Day {
  readonly #t: Test;
  readonly #dataDir: string;
  readonly #model = new Model();
  #running: ClockedServer;
  #writer: Client;
  #follower: Follower | null = null;
  #channelId = 0;
  #target = 0;
  #count = 0;
  #changes = 0;

  constructor(t: Test, dataDir: string, running: ClockedServer, writer: Client) {
    this.#t = t;
    this.#dataDir = dataDir;
    this.#running = running;
    this.#writer = writer;
  }

  static async begin(t: Test): Promise<Day> {
    const dataDir = temporaryFolder(t);
    const running = await startClockedServer(t, { dataDir });
    const writer = await running.server.user("writer");
    const day = new Day(t, dataDir, running, writer);
    day.#channelId = await running.server.owner.createChannel("plans", [running.server.owner, writer]);
    day.#target = await writer.say(day.#channelId, "t", "remember");
    day.#follower = await followLists(writer);
    return day;
  }

  get #nowS(): number {
    return Math.floor(this.#running.clock.now() / 1000);
  }

  take(step: Step): Promise<void> {
    return (this.#steps[step.kind] as (step: Step) => Promise<void>)(step);
  }

  readonly #steps: { readonly [K in Step["kind"]]: (step: Extract<Step, { kind: K }>) => Promise<void> } = {
    schedule: ({ inS, isDirect }) => this.#schedule(inS, isDirect),
    edit: ({ pick, inS }) => this.#change(pick, inS, { content: `number ${++this.#count}` }),
    move: ({ pick, inS }) => this.#change(pick, inS, {}),
    delete: ({ pick }) => this.#delete(pick),
    remind: ({ inS }) => this.#remind(inS),
    pass: ({ seconds }) => this.pass(seconds),
    archive: () => this.#archive(),
    restart: () => this.#restart(),
  };

  async #schedule(inS: number, isDirect: boolean): Promise<void> {
    if (this.#model.isArchived && !isDirect) return;
    const place = isDirect ? { type: "direct", to: [2] } : { type: "channel", to: this.#channelId, topic: "t" };
    const content = `number ${++this.#count}`;
    const dueS = this.#nowS + inS;
    const id = await schedule(this.#writer, { ...place, content, scheduled_delivery_timestamp: dueS });
    this.#model.waiting.push({ id, content, dueS, isDirect, hasFailed: false, changedAs: ++this.#changes });
  }

  #picked(pick: number): Waiting | undefined {
    return this.#model.waiting[pick % Math.max(1, this.#model.waiting.length)];
  }

  /** Without a text, the time changes. A failed message always needs a new time. */
  async #change(pick: number, inS: number, text: { readonly content?: string }): Promise<void> {
    const one = this.#picked(pick);
    if (one === undefined || (this.#model.isArchived && !one.isDirect)) return;
    const isMoved = text.content === undefined || one.hasFailed;
    const dueS = isMoved ? this.#nowS + inS : one.dueS;
    const wish = isMoved ? { ...text, scheduled_delivery_timestamp: dueS } : text;
    this.#t.equal((await this.#writer.patch(`/scheduled_messages/${one.id}`, wish)).status, 200);
    const isSame = text.content === undefined && dueS === one.dueS && !one.hasFailed;
    const changedAs = isSame ? one.changedAs : ++this.#changes;
    this.#model.replace({ ...one, ...text, dueS, hasFailed: false, changedAs });
  }

  async #delete(pick: number): Promise<void> {
    const one = this.#picked(pick);
    if (one === undefined) return;
    this.#t.equal((await this.#writer.delete(`/scheduled_messages/${one.id}`)).status, 200);
    this.#model.drop(one.id);
  }

  async #remind(inS: number): Promise<void> {
    const dueS = this.#nowS + inS;
    const params = { message_id: this.#target, scheduled_delivery_timestamp: dueS };
    this.#t.equal((await this.#writer.post("/reminders", params)).status, 200);
    this.#model.reminders.push(dueS);
  }

  async pass(seconds: number): Promise<void> {
    this.#running.clock.jump(seconds * 1000);
    await this.#settle();
  }

  async #archive(): Promise<void> {
    if (this.#model.isArchived) return;
    await this.#running.server.owner.delete(`/streams/${this.#channelId}`);
    this.#model.isArchived = true;
  }

  /** Messages due meanwhile are late. */
  async #restart(): Promise<void> {
    const startedAt = this.#running.clock.now() + 7000;
    await this.#running.server.stop();
    this.#running = await startClockedServer(this.#t, { dataDir: this.#dataDir }, startedAt);
    this.#writer = new Client(this.#running.server.url, this.#writer.account);
    this.#follower = null;
    await this.#settle();
    this.#follower = await followLists(this.#writer);
  }

  async #settle(): Promise<void> {
    const t = this.#t;
    await this.#running.server.realm.dispatcher.idle();
    this.#model.passTo(this.#nowS);
    const fresh = await freshLists(this.#writer);
    if (this.#follower !== null) t.strictSame(await listsByEvents(this.#follower), fresh);
    const { waiting, reminders, posted } = this.#model;
    const found = fresh.scheduled_messages.map((one: Event) => [one.scheduled_message_id, one.content, one.failed]);
    t.strictSame(
      found,
      [...waiting].sort(inOrder).map(({ id, content, hasFailed }) => [id, content, hasFailed]),
    );
    t.equal(fresh.reminders.length, reminders.length);
    const contents = (await newestOf(this.#writer, 1000)).map(({ content }) => content);
    const seen = contents.filter((content) => /^number/.test(content));
    t.strictSame(seen, posted);
  }

  /** Checks that nothing is pending and no timer is left. */
  async end(): Promise<void> {
    await this.pass(3600);
    const { lmdb } = this.#running.server.realm;
    for (const table of ["mailbox", "reminders"] as const) this.#t.equal(lmdb.count(table), 0, table);
    this.#t.equal(timersLeft(this.#running.server), 0, "timers");
    await this.#running.server.stop();
  }
}

t.test("[M3, M7, M8] a scheduled message is posted once in its last form; state + events = fresh state", async (t) => {
  const seed = seedOf(t);
  const days = fc.array(step, { minLength: 10, maxLength: 30 });
  const property = fc.asyncProperty(days, async (steps) => {
    await t.test(JSON.stringify(steps.map(({ kind }) => kind)), async (inner) => {
      const day = await Day.begin(inner);
      for (const one of steps) await day.take(one);
      await day.end();
    });
    if (!t.passing()) throw new Error("the model disagrees");
  });
  await fc.assert(property, { seed, numRuns: 8, endOnFailure: true });
});
