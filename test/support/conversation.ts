/**
 * Helpers for tests of conversations: users of other roles, crowds, organization settings that no operation changes
 * yet, and a follower that reads an event queue by long poll. Only `realmOf` and `write` are white-box.
 */

import { randomBytes } from "node:crypto";
import { command } from "../../actors/protocol/commands.ts";
import { parseContent } from "../../domain/markdown/render.ts";
import type { KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import { type Role, roles } from "../../schemas/types.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { hashApiKey } from "../../src/operations/identity/authentication.ts";
import type { Realm } from "../../src/runtime/realm.ts";
import { deltaOf } from "../../src/store/projections/projection.ts";
import { type Answer, Client, type Params } from "./client.ts";
import type { TestServer } from "./server.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests compare whole events of any shape
export type Event = any;

/** No password hashes to this: the accounts have API keys. */
const unusableHash = "$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/** The opened default realm. */
export function realmOf(server: TestServer): Realm {
  return server.running.host.realmOf("");
}

/** Writes a row and updates projections, as a decided command does. For settings that no operation changes yet. */
export function write<T extends TableName>(server: TestServer, table: T, key: KeyOf<T>, row: RowOf<T>): void {
  const realm = realmOf(server);
  realm.environment.transaction(() => {
    realm.environment.put(table, key, row);
  });
  const delta = deltaOf(table, key, row);
  realm.projections.apply(delta);
  for (const follower of realm.dispatcher.view.followers) follower.apply(delta);
}

export function setRealmSettings(server: TestServer, settings: Readonly<Record<string, unknown>>): void {
  const { realm } = realmOf(server).view;
  write(server, "realm", "realm", { ...realm, settings: { ...realm.settings, ...settings } });
}

export function changeUser(server: TestServer, userId: number, change: (user: UserRecord) => UserRecord): void {
  const user = realmOf(server).view.users.get(userId);
  if (user === undefined) throw new Error(`there is no user ${userId}`);
  write(server, "users", userId, change(user));
}

export function setUserSettings(server: TestServer, userId: number, settings: Readonly<Record<string, unknown>>): void {
  changeUser(server, userId, (user) => ({ ...user, settings: { ...user.settings, ...settings } }));
}

/** The id of a system group. */
export function systemGroup(server: TestServer, name: string): number {
  const group = realmOf(server).view.groups.system(name);
  if (group === undefined) throw new Error(`there is no group ${name}`);
  return group.id;
}

/** Accounts without keys, created by the server itself. @returns their ids, ascending */
export async function addUsers(server: TestServer, name: string, count: number, role: Role = roles.member) {
  const { dispatcher } = realmOf(server);
  const made = Array.from({ length: count }, (_, index) =>
    dispatcher.ask(
      command(
        { actor: "realm" },
        "user.create",
        { email: `${name}${index}@example.com`, fullName: `${name} ${index}`, passwordHash: unusableHash, role },
        null,
      ),
    ),
  );
  const ids: number[] = [];
  for (const result of await Promise.all(made)) {
    if (result.kind === "refused") throw new Error(result.msg);
    ids.push(Number(result.answer.user_id));
  }
  return ids.sort((a, b) => a - b);
}

/** A user of any role with an API key, without the cost of a password hash. */
export async function personOf(server: TestServer, name: string, role: Role = roles.member): Promise<Client> {
  const [userId = 0] = await addUsers(server, name, 1, role);
  const key = randomBytes(16).toString("hex");
  await addKey(server, userId, key);
  return new Client(server.url, { email: `${name}0@example.com`, key, userId });
}

async function addKey(server: TestServer, userId: number, key: string): Promise<void> {
  const params = { hash: hashApiKey(key) };
  await realmOf(server).dispatcher.ask(command({ actor: "user", id: userId }, "user.api-key.add", params, userId));
}

/** Reactivates an account and adds its client's key again, which a reactivation revokes (D274). */
export async function reactivate(server: TestServer, by: Client, person: Client): Promise<void> {
  const { status, body } = await by.post(`/users/${person.userId}/reactivate`);
  if (status !== 200) throw new Error(`no reactivation: ${JSON.stringify(body)}`);
  await addKey(server, person.userId, person.account?.key ?? "");
}

/** A generic bot of the given owner. */
export async function botOf(server: TestServer, name: string, owner: Client): Promise<Client> {
  const bot = await personOf(server, name);
  changeUser(server, bot.userId, (user) => ({ ...user, botType: 1, botOwnerId: owner.userId }));
  return bot;
}

/** Creates a channel with subscribers. @returns its id */
export async function createChannel(by: Client, name: string, subscribers: readonly Client[], more: Params = {}) {
  const ids = subscribers.map((client) => client.userId);
  const made = await by.post("/channels/create", { name, subscribers: ids, ...more });
  if (made.status !== 200) throw new Error(`no channel ${name}: ${JSON.stringify(made.body)}`);
  return made.body.id as number;
}

/** The channel's record as the caller sees it; undefined if the channel is hidden from the caller. */
export async function channelSeenBy(client: Client, id: number): Promise<Event> {
  const { body } = await client.get("/streams", { include_all: true, include_can_access_content: true });
  return body.streams.find((stream: { stream_id: number }) => stream.stream_id === id);
}

/** Status and body, the parts by which responses are compared. */
export function outcome({ status, body }: Answer): { status: number; body: unknown } {
  return { status, body };
}

export function refusal(msg: string, code = "BAD_REQUEST", status = 400, fields: Params = {}) {
  return { status, body: { result: "error", msg, code, ...fields } };
}

export function success(fields: Params = {}) {
  return { status: 200, body: { result: "success", msg: "", ...fields } };
}

/** Reads a queue by long-poll and remembers every event. */
export class Follower {
  readonly client: Client;
  readonly events: Event[] = [];
  /** The response of POST /register. */
  readonly state: Event;
  #last: number;

  constructor(client: Client, state: Event) {
    this.client = client;
    this.state = state;
    this.#last = state.last_event_id;
  }

  static async of(client: Client, params: Params = {}): Promise<Follower> {
    return new Follower(client, await client.register({ fetch_event_types: [], ...params }));
  }

  async #read(isImpatient: boolean): Promise<void> {
    const { body } = await this.client.get("/events", {
      queue_id: this.state.queue_id,
      last_event_id: this.#last,
      dont_block: isImpatient,
    });
    if (body.result !== "success") throw new Error(`no events: ${JSON.stringify(body)}`);
    this.events.push(...body.events);
    this.#last = this.events.at(-1)?.id ?? this.#last;
  }

  /** Reads everything that waits: one response has a bounded number of events. */
  async present(): Promise<readonly Event[]> {
    for (let known = -1; known < this.events.length; ) {
      known = this.events.length;
      await this.#read(true);
    }
    return this.events;
  }

  /** The first matching event, past or future. */
  async until(test: (event: Event) => boolean): Promise<Event> {
    for (;;) {
      const found = this.events.find(test);
      if (found !== undefined) return found;
      await this.#read(false);
    }
  }

  /**
   * When this resolves, every earlier event has arrived: commands form one order (M7), so a message to oneself follows
   * them. The queue must include messages.
   */
  async settled(): Promise<readonly Event[]> {
    const sent = await this.client.post("/messages", { type: "direct", to: [this.client.userId], content: "fence" });
    const isFence = (event: Event) => event.type === "message" && event.message.id === sent.body.id;
    await this.until(isFence);
    this.events.splice(this.events.findIndex(isFence), 1);
    return this.events;
  }

  /** Events of one type so far, without their ids. */
  ofType(type: string): Event[] {
    return this.events.filter((event) => event.type === type).map(({ id: _id, ...rest }) => rest);
  }
}

/** Messages of the owner, without a request each. @returns their ids */
export async function flood(
  server: TestServer,
  { channelId, topic, count }: { readonly channelId: number; readonly topic: string; readonly count: number },
): Promise<number[]> {
  const parsed = parseContent("flood", { linkifiers: [], translateEmoticons: false });
  const params = { content: "flood", parsed, client: "test", queueId: null, localId: null, isReadBySender: true };
  const to = { actor: "topic", channelId, topic } as const;
  const sent = await Promise.all(
    Array.from({ length: count }, () =>
      realmOf(server).dispatcher.ask(command(to, "message.post", params, server.owner.userId)),
    ),
  );
  return sent.map((result) => (result.kind === "ok" ? Number(result.answer.id) : 0));
}
