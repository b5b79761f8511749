/**
 * A realm without transports: real environment, dispatcher and actors on a clock that the test controls, and a journal
 * in memory. A crash is a copy of the folder and the journal, opened elsewhere, while the original is never closed.
 */
import { type Command, type CommandType, command } from "../../actors/protocol/decision.ts";
import { parseContent } from "../../domain/markdown/render.ts";
import { type RowOf, rowFields, type TableName } from "../../schemas/records.ts";
import type { EventSink } from "../../src/runtime/dispatcher.ts";
import type { IdempotencyKey } from "../../src/runtime/queued-command.ts";
import { Realm } from "../../src/runtime/realm.ts";
import type { Reply } from "../../src/runtime/results.ts";
import type { StagedEvent } from "../../src/runtime/turn.ts";
import type { Lmdb } from "../../src/store/lmdb.ts";
import { RealmProjections } from "../../src/store/projections/realm-projections.ts";
import { ManualClock } from "./manual-clock.ts";
import { crashImage, PromptDurability } from "./manual-durability.ts";
import { plainChannel } from "./plain-channel.ts";
import { type Teardown, temporaryFolder } from "./server.ts";

export { crashImage };

export const startedAt = Date.UTC(2026, 5, 1, 12);
export const ownerId = 2;
export const generalId = 1;

/** Each reading of the time costs more than a turn's budget, so every turn takes one command. */
export class SlowClock extends ManualClock {
  #looks = 0;

  override monotonic(): number {
    this.#looks++;
    return super.monotonic() + this.#looks * 5;
  }
}

/** A stand-in for the hub: records staged events, and which of them were published when. */
export class Recorder implements EventSink {
  /** Positions in order of publication. */
  readonly published: StagedEvent[] = [];
  /** Number of changed rows of projected tables per turn. */
  readonly changes: number[] = [];
  #staged: StagedEvent[] = [];
  #changed = 0;

  apply(): void {
    this.#changed++;
  }

  stage(event: StagedEvent): void {
    this.#staged.push(event);
  }

  publish(): void {
    this.published.push(...this.#staged);
    this.#staged = [];
    this.changes.push(this.#changed);
    this.#changed = 0;
  }
}

export interface Bug {
  readonly error: unknown;
  /** null: not caused by a command, e.g. an event that a reader could not handle. */
  readonly command: Command | null;
}

export interface OpenOptions {
  readonly folder?: string;
  readonly clock?: ManualClock;
  readonly acceptsWrites?: () => boolean;
  readonly sink?: EventSink;
  /** The token of the process that owns the folder. */
  readonly owner?: string;
}

/** One opened realm. It is abandoned at the end of the test, as by a crash, unless the test closes it. */
export class OpenRealm {
  readonly folder: string;
  readonly clock: ManualClock;
  readonly realm: Realm;
  readonly recorder = new Recorder();
  readonly bugs: Bug[] = [];
  readonly fatalities: unknown[] = [];
  readonly warnings: string[] = [];
  readonly #durability: PromptDurability;

  constructor(t: Teardown, options: OpenOptions = {}) {
    this.folder = options.folder ?? temporaryFolder(t);
    this.clock = options.clock ?? new ManualClock(startedAt);
    this.#durability = new PromptDurability(this.clock);
    this.realm = new Realm({
      folder: this.folder,
      clock: this.clock,
      alarm: {
        bug: (error, request) => this.bugs.push({ error, command: request }),
        fatal: (error) => {
          this.fatalities.push(error);
          throw error;
        },
        warn: (line) => this.warnings.push(line),
      },
      acceptsWrites: options.acceptsWrites ?? (() => true),
      owner: options.owner ?? null,
      durability: this.#durability,
    });
    this.realm.dispatcher.attach(options.sink ?? this.recorder);
    t.teardown(async () => {
      // A failed test leaves commands in the queue; they must not meet a closed environment.
      for (let turns = 0; this.realm.dispatcher.queueLength > 0 && turns < 1000; turns++) await turn();
      await this.realm.lmdb.close();
      await this.#durability.close();
    });
  }

  get lmdb(): Lmdb {
    return this.realm.lmdb;
  }

  ask<T extends CommandType>(request: Command<T>, idempotencyKey: IdempotencyKey | null = null): Promise<Reply> {
    return this.realm.dispatcher.ask(request, idempotencyKey);
  }

  idle(): Promise<void> {
    return this.realm.dispatcher.idle();
  }

  /** The disk stands still. @returns a function that ends this */
  stallDisk(): () => void {
    return this.#durability.stall();
  }

  /** There is no room for further turns. @returns a function that ends this */
  fillRoom(): () => void {
    return this.#durability.fillRoom();
  }

  /** The store gets every turn, as when the realm closes. */
  checkpoint(): void {
    this.#durability.checkpoint();
  }

  /** Everything that projections hold. */
  snapshot(): unknown {
    return this.realm.projections.snapshot();
  }

  rebuilt(): unknown {
    return RealmProjections.rebuild(this.lmdb).snapshot();
  }

  /** Opens the folder as a crash at this moment would leave it. */
  crash(t: Teardown, options: OpenOptions = {}): OpenRealm {
    return new OpenRealm(t, { clock: this.clock, ...options, folder: crashImage(t, this.folder) });
  }
}

/** Opens a new realm with its owner (user 2) and the channel `general` (1). */
export async function openNewRealm(t: Teardown, options: OpenOptions = {}): Promise<OpenRealm> {
  const bench = new OpenRealm(t, options);
  const request = command(
    { actor: "realm" },
    "realm.create",
    {
      label: "",
      name: "Test",
      ownerEmail: "owner@localhost",
      ownerFullName: "Owner",
      passwordHash: "none",
      apiKeyHash: "hash-of-owner",
      setupSecret: null,
    },
    null,
  );
  const created = await bench.ask(request);
  if (created.kind !== "ok") throw new Error(`not founded: ${JSON.stringify(created)}`);
  return bench;
}

/** Resolves when the scheduled turn has run. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export const commands = {
  post: (topic: string, content: string, senderId = ownerId, channelId = generalId): Command<"message.post"> =>
    command({ actor: "topic", channelId, topic }, "message.post", messageOf(content), senderId),
  direct: (userIds: readonly number[], content: string, senderId = ownerId): Command<"message.post"> =>
    command({ actor: "direct", userIds }, "message.post", messageOf(content), senderId),
  createUser: (email: string, callerId: number | null = null): Command<"user.create"> =>
    command(
      { actor: "realm" },
      "user.create",
      { email, fullName: email.split("@")[0] ?? "", passwordHash: "none", role: 400 },
      callerId,
    ),
  createBot: (index: number, botType: number, callerId: number): Command<"bot.create"> =>
    command(
      { actor: "realm" },
      "bot.create",
      {
        email: `b${index}-bot@example.com`,
        fullName: `b${index}`,
        botType,
        apiKeyHash: `bot${index}`,
        service:
          botType === 3 ? { name: "b", payloadUrl: "https://example.com", interfaceType: 1, token: `t${index}` } : null,
        defaultSendingChannel: index === 1 ? "general" : null,
        defaultEventsChannel: null,
        isAllPublicByDefault: false,
      },
      callerId,
    ),
  giveBot: (botId: number, newOwnerId: number, callerId: number): Command<"bot.update"> =>
    command(
      { actor: "realm" },
      "bot.update",
      {
        botId,
        ownerId: newOwnerId,
        fullName: null,
        role: null,
        payloadUrl: null,
        interfaceType: null,
        defaultSendingChannel: null,
        defaultEventsChannel: "general",
        isAllPublicByDefault: true,
      },
      callerId,
    ),
  createField: (name: string, type: number): Command<"profile-field.create"> =>
    command(
      { actor: "realm" },
      "profile-field.create",
      {
        type,
        name,
        hint: "",
        fieldData: { a: { text: "A", order: "1" } },
        displayInSummary: false,
        isRequired: false,
        isEditableByUser: true,
      },
      ownerId,
    ),
  enter: (fieldId: number, userId: number): Command<"profile-data.set"> =>
    command({ actor: "realm" }, "profile-data.set", { data: [{ id: fieldId, value: "a", parsed: null }] }, userId),
  createChannel: (name: string, subscriberIds: readonly number[], callerId = ownerId): Command<"channel.create"> =>
    command({ actor: "realm" }, "channel.create", plainChannel(name, subscriberIds), callerId),
  subscribe: (
    names: readonly string[],
    principals: readonly number[] | null,
    callerId = ownerId,
    notifiesNewSubscribers = false,
  ): Command<"subscriptions.add"> => {
    const {
      name: _name,
      description: _text,
      renderedDescription: _html,
      subscriberIds: _ids,
      ...template
    } = plainChannel("");
    const channels = names.map((name) => ({ name, description: null, renderedDescription: "", color: null }));
    const params = { channels, principals, areErrorsFatal: true, notifiesNewSubscribers, template };
    return command({ actor: "realm" }, "subscriptions.add", params, callerId);
  },
  unsubscribe: (
    channelNames: readonly string[],
    principals: readonly number[] | null,
    callerId = ownerId,
  ): Command<"subscriptions.remove"> =>
    command({ actor: "realm" }, "subscriptions.remove", { channelNames, principals }, callerId),
  register: (userId: number, queueId: string): Command<"queue.register"> =>
    command(
      { actor: "user", id: userId },
      "queue.register",
      { queueId, lifespanMs: 600_000, client: "test", options: queueOptions, others: { unread: [], connected: [] } },
      userId,
    ),
  deleteTopic: (topic: string, deadline: number, channelId = generalId): Command<"topic-deletion.request"> =>
    command({ actor: "topic-deletion", channelId, topic }, "topic-deletion.request", { deadline }, ownerId),
  typing: (op: "start" | "stop", topic: string, senderId = ownerId): Command<"typing.start" | "typing.stop"> =>
    command(
      { actor: "typing", conversation: `${generalId}:${topic}` },
      `typing.${op}`,
      { target: { kind: "channel", channelId: generalId, topic } },
      senderId,
    ),
  /** A volatile command that does nothing: no event, no position. */
  idleTyping: (conversation: string): Command<"typing.expire"> =>
    command(
      { actor: "typing", conversation },
      "typing.expire",
      { userId: 0, target: { kind: "direct", userIds: [] } },
      null,
    ),
  report: (userId: number, status: "active" | "idle"): Command<"presence.report"> =>
    command({ actor: "presence", userId }, "presence.report", { status }, userId),
  /** An initialized realm cannot handle it: its machine throws. */
  throwing: (): Command<"realm.create"> =>
    command(
      { actor: "realm" },
      "realm.create",
      { label: "", name: "", ownerEmail: "", ownerFullName: "", passwordHash: "", apiKeyHash: "", setupSecret: null },
      null,
    ),
  /** A command that is decided and partly written before its event fails to encode. */
  halfWritten: (topic: string): Command<"message.post"> => {
    const params = { ...messageOf("half"), queueId: Symbol("no such type on disk") as unknown as string, localId: "1" };
    return command({ actor: "topic", channelId: generalId, topic }, "message.post", params, ownerId);
  },
} as const;

function messageOf(content: string): Command<"message.post">["params"] {
  const parsed = parseContent(content, { linkifiers: [], translateEmoticons: false });
  return { content, parsed, client: "test", queueId: null, localId: null, isReadBySender: true };
}

export const queueOptions = {
  applyMarkdown: true,
  clientGravatar: true,
  slimPresence: false,
  allPublicStreams: false,
  includeSubscribers: false,
  eventTypes: null,
  narrow: [],
  capabilities: [],
} as const;

/** Creates users in few turns. @returns their ids */
export async function createUsers(bench: OpenRealm, count: number): Promise<number[]> {
  const pending = Array.from({ length: count }, (_, index) => bench.ask(commands.createUser(`p${index}@example.com`)));
  return (await Promise.all(pending)).map((result) => answerOf(result)["user_id"] as number);
}

/** The response of a command that must succeed. */
export function answerOf(result: Reply): Readonly<Record<string, unknown>> {
  if (result.kind !== "ok") throw new Error(`refused: ${result.code} ${result.msg}`);
  return result.answer;
}

/** "ok", or the error code. */
export function codeOf(result: Reply): string {
  return result.kind === "ok" ? "ok" : result.code;
}

export function rowsOf<T extends TableName>(lmdb: Lmdb, table: T): RowOf<T>[] {
  const rows: RowOf<T>[] = [];
  lmdb.each(table, (row) => rows.push(row));
  return rows;
}

/** Every row of every table except `meta`, in order of keys. */
export function dump(lmdb: Lmdb): Record<string, [unknown, unknown][]> {
  const tables: Record<string, [unknown, unknown][]> = {};
  for (const table of Object.keys(rowFields) as TableName[]) {
    if (table === "meta") continue;
    const rows: [unknown, unknown][] = [];
    lmdb.each(table, (row, key) => rows.push([key, row]));
    tables[table] = rows;
  }
  return tables;
}
