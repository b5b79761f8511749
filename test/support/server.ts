/**
 * A real server on port 0 with a new data folder, and its users: the first tier of tests is black-box. Only `realm` and
 * the methods that write are white-box.
 */
import { randomBytes } from "node:crypto";
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { command } from "../../actors/protocol/decision.ts";
import { parseContent } from "../../domain/markdown/render.ts";
import { limits } from "../../schemas/limits.ts";
import type { KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import { type Role, roles } from "../../schemas/types.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { readConfig } from "../../src/app/config.ts";
import { type RunningServer, startServer } from "../../src/app/server.ts";
import { createLog, type Log } from "../../src/log/log.ts";
import { hashApiKey } from "../../src/operations/identity/authentication.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import type { Realm } from "../../src/runtime/realm.ts";
import { here, nodeFront, nodeKey, startEdge, to } from "../forwarding/edge.ts";
import { Client } from "./client.ts";
import { ManualClock } from "./manual-clock.ts";
import { fill, type Rows } from "./rows.ts";
import { makeSpareFiles } from "./spare-files.ts";
import { checkLogs } from "./wire-events.ts";

/** The part of tap that helpers need: a place to register clean-up. */
export interface Teardown {
  teardown(callback: () => unknown): void;
}

/** No password hashes to this: the accounts have API keys. */
const unusableHash = "$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

export class TestServer {
  readonly running: RunningServer;
  readonly url: string;
  readonly dataDir: string;
  /** The organization's owner. */
  readonly owner: Client;
  readonly #clock: Clock | null;
  #isStopped = false;

  constructor(running: RunningServer, url: string, dataDir: string, clock: Clock | null = null) {
    this.running = running;
    this.url = url;
    this.dataDir = dataDir;
    this.#clock = clock;
    const { email, key } = readZuliprc(running.zuliprc);
    this.owner = new Client(url, { email, key, userId: 2 });
  }

  readonly stop = async (): Promise<void> => {
    // A stop waits for timers, so they are real from then on.
    if (this.#clock instanceof ManualClock) this.#clock.release();
    if (this.#isStopped) return;
    this.#isStopped = true;
    try {
      checkLogs(this.running.host);
    } finally {
      await this.running.stop();
    }
  };

  /** The opened default realm. */
  get realm(): Realm {
    return this.running.host.realmOf("");
  }

  /** An account with a password, created and signed in to as people do. It is a member. */
  readonly person = async (name: string): Promise<Client> => {
    const address = `${name.toLowerCase().replaceAll(" ", ".")}@example.com`;
    const password = "correct horse battery";
    const made = await this.owner.post("/users", { email: address, password, full_name: name });
    if (made.status !== 200) throw new Error(`cannot create ${name}: ${JSON.stringify(made.body)}`);
    const fetched = await this.owner.anonymous().post("/fetch_api_key", { username: address, password });
    const { api_key: apiKey, user_id: userId } = fetched.body as { api_key: string; user_id: number };
    return new Client(this.url, { email: address, key: apiKey, userId });
  };

  /** A user of any role with an API key, without the cost of a password hash. */
  async user(name: string, role: Role = roles.member): Promise<Client> {
    const [userId = 0] = await this.users(name, 1, role);
    const key = randomBytes(16).toString("hex");
    await this.#addKey(userId, key);
    return new Client(this.url, { email: `${name}0@example.com`, key, userId });
  }

  /** Accounts without keys, created by the server itself. @returns their ids, ascending */
  async users(name: string, count: number, role: Role = roles.member): Promise<number[]> {
    const { dispatcher } = this.realm;
    const made = Array.from({ length: count }, (_, index) => {
      const email = `${name}${index}@example.com`;
      const params = { email, fullName: `${name} ${index}`, passwordHash: unusableHash, role };
      return dispatcher.ask(command({ actor: "realm" }, "user.create", params, null));
    });
    const ids: number[] = [];
    for (const result of await Promise.all(made)) {
      if (result.kind === "refused") throw new Error(result.msg);
      ids.push(Number(result.answer.user_id));
    }
    return ids.sort((a, b) => a - b);
  }

  /** A generic bot of the given owner. */
  async bot(name: string, owner: Client): Promise<Client> {
    const bot = await this.user(name);
    this.changeUser(bot.userId, (user) => ({ ...user, botType: 1, botOwnerId: owner.userId }));
    return bot;
  }

  async #addKey(userId: number, key: string): Promise<void> {
    const params = { hash: hashApiKey(key) };
    await this.realm.dispatcher.ask(command({ actor: "user", id: userId }, "user.api-key.add", params, userId));
  }

  /** Reactivates an account and adds its client's key again, which a reactivation revokes (D274). */
  async reactivate(by: Client, person: Client): Promise<void> {
    const { status, body } = await by.post(`/users/${person.userId}/reactivate`);
    if (status !== 200) throw new Error(`no reactivation: ${JSON.stringify(body)}`);
    await this.#addKey(person.userId, person.account?.key ?? "");
  }

  /** The id of a system group. */
  group(name: string): number {
    const group = this.realm.view.groups.system(name);
    if (group === undefined) throw new Error(`there is no group ${name}`);
    return group.id;
  }

  /** Messages of the owner, without a request each. @returns their ids */
  async flood(place: {
    readonly channelId: number;
    readonly topic: string;
    readonly count: number;
  }): Promise<number[]> {
    const { channelId, topic, count } = place;
    const parsed = parseContent("flood", { linkifiers: [], translateEmoticons: false });
    const params = { content: "flood", parsed, client: "test", queueId: null, localId: null, isReadBySender: true };
    const to = { actor: "topic", channelId, topic } as const;
    const post = () => this.realm.dispatcher.ask(command(to, "message.post", params, this.owner.userId));
    const sent = await Promise.all(Array.from({ length: count }, post));
    return sent.map((result) => (result.kind === "ok" ? Number(result.answer.id) : 0));
  }

  /** Writes a row and updates projections, as a decided command does. */
  write<T extends TableName>(table: T, key: KeyOf<T>, row: RowOf<T>): void {
    fill(this.realm, table, [[key, row]]);
  }

  /** A table that is one row below its bound, without that many requests (S3). */
  writeMany<T extends TableName>(table: T, rows: Rows<T>): void {
    fill(this.realm, table, rows);
  }

  setRealm(settings: Readonly<Record<string, unknown>>): void {
    const { realm } = this.realm.view;
    this.write("realm", "realm", { ...realm, settings: { ...realm.settings, ...settings } });
  }

  changeUser(userId: number, change: (user: UserRecord) => UserRecord): void {
    const user = this.realm.view.users.get(userId);
    if (user === undefined) throw new Error(`there is no user ${userId}`);
    this.write("users", userId, change(user));
  }

  setUser(userId: number, settings: Readonly<Record<string, unknown>>): void {
    this.changeUser(userId, (user) => ({ ...user, settings: { ...user.settings, ...settings } }));
  }
}

export interface TestServerOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly dataDir?: string;
  readonly clock?: Clock;
  /** Other nodes may forward to it (test/forwarding/edge.ts). */
  readonly isNode?: boolean;
  /** Where the built web page is. */
  readonly webFolder?: string;
  /** The server's log; discarded by default. */
  readonly log?: Log;
}

/** As much as a server wants to find free, its reserves, and what a test stores: many containers have 64 MiB. */
const memoryBytesMin = 2 * limits.store_free_bytes_min + 512 * 1024 * 1024;

/** A memory file system with room, where there is one: for tests that do not need durability. */
export function memoryFolder(): string {
  try {
    accessSync("/dev/shm", constants.W_OK);
    const { bavail, bsize } = statfsSync("/dev/shm");
    return bavail * bsize < memoryBytesMin ? tmpdir() : "/dev/shm";
  } catch {
    return tmpdir();
  }
}

/** @param options.inMemory in a memory file system, where there is one with room */
export function temporaryFolder(t: Teardown, { inMemory = false } = {}): string {
  const folder = mkdtempSync(join(inMemory ? memoryFolder() : tmpdir(), "colloquy-test-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Credentials in the form that clients read. */
export function readZuliprc(file: string): { email: string; key: string; site: string } {
  const fields = Object.fromEntries(
    readFileSync(file, "utf8")
      .split("\n")
      .flatMap((line) => {
        const equals = line.indexOf("=");
        return equals < 0 ? [] : [[line.slice(0, equals), line.slice(equals + 1)]];
      }),
  );
  return { email: fields["email"] ?? "", key: fields["key"] ?? "", site: fields["site"] ?? "" };
}

const owning = { directions: { destinationOf: () => here } } as const;

export async function startTestServer(t: Teardown, options: TestServerOptions = {}): Promise<TestServer> {
  const dataDir = options.dataDir ?? temporaryFolder(t);
  const watchesDisk = options.environment?.["STORE_FREE_BYTES_MIN"] !== undefined;
  if (!watchesDisk && existsSync(dataDir)) makeSpareFiles(dataDir);
  // The tests of realtime/ hold behind another node as well.
  const isThroughEdge = process.env["THROUGH_EDGE"] === "true";
  const config = readConfig({
    PORT: "0",
    DATA_DIR: dataDir,
    RATE_LIMITS: "off",
    LOG_LEVEL: "silent",
    // Tests look into open realms, and may let days pass.
    REALM_IDLE_MS: "none",
    TRANSPORT: process.env["TRANSPORT"],
    ...options.environment,
  });
  const running = await startServer(config, {
    log: options.log ?? createLog(config.logLevel),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    ...(options.webFolder === undefined ? {} : { webFolder: options.webFolder }),
    ...(isThroughEdge || options.isNode === true
      ? { asNode: { key: nodeKey, front: (app) => nodeFront(app, owning) } }
      : {}),
    die(error) {
      throw error;
    },
  });
  const url = isThroughEdge ? await startEdge(t, { destination: () => to(running.url) }) : running.url;
  const server = new TestServer(running, url, dataDir, options.clock);
  t.teardown(() => server.stop());
  return server;
}
