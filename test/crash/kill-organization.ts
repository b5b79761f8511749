/**
 * One of the organizations of a server that is killed (D4, S1): its posts, its earlier queue, a socket, and what it must
 * have after each start.
 */
import { join } from "node:path";
import type { Test } from "tap";
import { openLmdb } from "../../src/store/lmdb.ts";
import { auditKeptAnswers, auditRealm } from "../support/audit.ts";
import { Client } from "../support/client.ts";
import { ascends, everything, readQueue, type Stored } from "../support/kept-messages.ts";
import type { ServerProgram } from "../support/process.ts";
import { readZuliprc } from "../support/server.ts";
import { SocketReader } from "./kill-activity.ts";
import { type Post, RepeatingClient, send, type Target } from "./kill-load.ts";

function isPost({ content }: Stored): boolean {
  return /^r\d+-/.test(content);
}

export interface OrganizationPlan {
  readonly id: number;
  readonly lanes: number;
  /** "": the first one, which every unknown host name selects. */
  readonly label: string;
}

export class Organization implements Target {
  readonly name: string;
  readonly lanes: number;
  /** Where its store is. */
  readonly folder: string;
  readonly reader = new SocketReader();
  acknowledged = 0;
  /** Posts that were on disk and not acknowledged. */
  saved = 0;
  readonly #contents: string[] = [];
  readonly #label: string;
  readonly #zuliprc: string;
  #owner: RepeatingClient | null = null;
  #queueId = "";
  #polled = 0;
  #newest = 0;

  constructor(dataDir: string, { id, lanes, label }: OrganizationPlan) {
    this.name = label === "" ? "first" : label;
    this.lanes = lanes;
    this.folder = join(dataDir, "realms", String(id));
    this.#label = label;
    this.#zuliprc = join(dataDir, label === "" ? "zuliprc" : `zuliprc.${label}`);
  }

  /** The client of its owner at the server that runs. */
  get owner(): RepeatingClient {
    return this.#owner as RepeatingClient;
  }

  /** After each start, which chooses a new port. */
  moveTo({ url }: ServerProgram): void {
    const { email, key } = readZuliprc(this.#zuliprc);
    const host = this.#label === "" ? new URL(url).host : `${this.#label}.example.org`;
    this.#owner = new RepeatingClient(new Client(url, { email, key, userId: 2 }), host);
  }

  async register(): Promise<void> {
    const queue = await this.owner.register({ event_types: ["message"] });
    this.#queueId = queue.queue_id;
    this.#polled = queue.last_event_id;
  }

  /** After the restart: checks what the posts and the queue have become, and repeats what was not acknowledged. */
  async settle(t: Test, posts: readonly Post[]): Promise<void> {
    this.#contents.push(...posts.map(({ content }) => content));
    const since = await everything(this.owner, this.#newest);
    await this.#settlePosts(t, posts, since.filter(isPost));
    await this.#settleQueue(t);
  }

  async #settlePosts(t: Test, posts: readonly Post[], stored: readonly Stored[]): Promise<void> {
    const idOf = new Map(stored.map(({ id, content }) => [content, id]));
    t.equal(idOf.size, stored.length, `${this.name}: no message twice`);
    const own = new Set(this.#contents);
    const found = stored.filter(({ content }) => !own.has(content));
    t.strictSame(found, [], `[S1] ${this.name}: no message of another organization`);
    const acknowledged = posts.filter(({ id }) => id !== null);
    const seen = acknowledged.filter(({ content, id }) => idOf.get(content) !== id);
    t.strictSame(seen, [], `${this.name}: each of ${acknowledged.length} acknowledged posts exists under its id`);
    const open = posts.filter(({ id }) => id === null);
    const saved = open.filter(({ content }) => idOf.has(content));
    // How many of them reached the disk depends on the moment. The kill must at least have interrupted some.
    t.ok(open.length > 0, `${this.name}: ${open.length} were in flight, ${saved.length} of them on disk`);
    await Promise.all(open.map((post) => send(this.owner, post)));
    const shown = saved.filter((post) => idOf.get(post.content) !== post.id);
    t.strictSame(shown, [], `[D25] ${this.name}: a repeat of a stored post returns its first response`);
    for (let lane = 0; lane < this.lanes; lane++) {
      const ids = posts.flatMap((post) => (post.lane === lane ? [post.id ?? 0] : []));
      if (!ascends(ids)) t.fail(`${this.name}, lane ${lane}: ${ids}`);
    }
    this.acknowledged += acknowledged.length;
    this.saved += saved.length;
  }

  async #settleQueue(t: Test): Promise<void> {
    const read = await readQueue(this.owner, this.#queueId, this.#polled);
    const now = await everything(this.owner, this.#newest);
    const known = new Set(now.map(({ id }) => id));
    const received = read?.messageIds.filter((id) => known.has(id)) ?? [];
    t.strictSame(
      received,
      [...known].filter((id) => id <= (received.at(-1) ?? 0)),
      `[E1, E2] ${this.name}: the earlier queue delivers each message once`,
    );
    t.ok(ascends(read?.eventIds ?? [0, 0]), `[E1] ${this.name}: ids of events increase across the kill`);
    this.#polled = read?.eventIds.at(-1) ?? this.#polled;
    this.#newest = received.at(-1) ?? this.#newest;
  }

  /** In the end. @param others what it has besides posts @returns all that is stored */
  async end(t: Test, others: readonly string[] = []): Promise<Stored[]> {
    const stored = await everything(this.owner);
    t.strictSame(
      stored.map(({ content }) => content).sort(),
      [...this.#contents, ...others].sort(),
      `[S1] ${this.name}: every post and every scheduled message exists once, and nothing else`,
    );
    await this.reader.begin(this.owner);
    await this.reader.event(({ message }) => message?.id === stored.at(-1)?.id);
    await this.reader.end();
    const known = new Set(stored.map(({ id }) => id));
    const left = this.reader.messageIds.filter((id) => known.has(id));
    t.strictSame(left, [...known], `[E2] ${this.name}: the sockets received each message once`);
    t.ok(this.reader.isInOrder, `[E1] ${this.name}: in order`);
    return stored;
  }

  /** Only while no process has it open. */
  async audit(t: Test): Promise<void> {
    const lmdb = openLmdb(this.folder);
    t.strictSame([...auditRealm(lmdb), ...auditKeptAnswers(lmdb)], [], this.name);
    await lmdb.close();
  }
}
