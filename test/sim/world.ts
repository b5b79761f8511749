/**
 * The values from which the workload draws: everything that exists according to rows, and occasionally something that
 * does not.
 */
import type { Command } from "../../actors/protocol/decision.ts";
import { parseContent } from "../../domain/markdown/render.ts";
import type { ParsedContent } from "../../schemas/parsed-content.ts";
import type { KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import type { Random } from "./random.ts";
import type { Replica } from "./replica.ts";

/** Creates a command, sensible or not. */
export type Draw = (world: World) => Command;

const topics = ["lunch", "Lunch", "müsli", "🍎", "", "✔ lunch", "plans", "long"];
const ends = [
  "",
  "",
  "",
  " **bold**",
  " @**all**",
  " @**Owner**",
  " #**general>lunch**",
  " https://example.com",
  " :tada:",
  " @**b3**",
  " @**p0** @**p1**",
];
/** Ids that never exist. */
const bogusIds = [0, 99_999];

export class World {
  readonly random: Random;
  readonly #replica: Replica;
  readonly #now: () => number;
  #tokens = 0;
  #names = 0;

  constructor(random: Random, replica: Replica, now: () => number) {
    this.random = random;
    this.#replica = replica;
    this.#now = now;
  }

  get replica(): Replica {
    return this.#replica;
  }

  /** Mostly an id of the table's rows: the last part of a key. */
  id(table: TableName): number {
    const key = this.#key(table);
    if (key === null) return this.random.pick(bogusIds);
    const last = Array.isArray(key) ? key.at(-1) : key;
    return Number(last);
  }

  #key(table: TableName): unknown {
    const keys = this.#replica.keys(table);
    return keys.length === 0 || this.random.chance(0.03) ? null : this.random.pick(keys);
  }

  /** A record of one user, and its owner, who mostly makes the request. */
  own(table: TableName): { readonly userId: number; readonly id: number } {
    const key = this.#key(table) as readonly [number, number] | null;
    if (key === null || this.random.chance(0.1)) return { userId: this.user(), id: this.id(table) };
    return { userId: key[0], id: key[1] };
  }

  /** Mostly a row of a table; undefined: there is none, or the caller should try something else. */
  row<T extends TableName>(table: T): { readonly key: KeyOf<T>; readonly row: RowOf<T> } | undefined {
    const key = this.#key(table);
    const row = key === null ? undefined : this.#replica.get(table, key);
    return row === undefined ? undefined : { key: key as KeyOf<T>, row };
  }

  now(): number {
    return this.#now();
  }

  /** A user, mostly one of the first few. */
  user(): number {
    return this.random.chance(0.8) ? 2 + this.random.below(5) : this.id("users");
  }

  users(count: number): number[] {
    return [...new Set(Array.from({ length: this.random.below(count + 1) }, () => this.user()))];
  }

  /** Users that the server itself may name: the active ones. */
  activeUsers(count: number): number[] {
    return this.users(count).filter((id) => this.#replica.get("users", id)?.isActive === true);
  }

  /** A group that users created; 99,999: there is none. */
  ownGroup(): number {
    const ids = this.#replica.rows("groups").flatMap((row) => (row.isSystem || row.name === null ? [] : [row.id]));
    return ids.length === 0 ? 99_999 : this.random.pick(ids);
  }

  /** A channel that not everyone sees; -1: there is none. */
  privateChannel(): number {
    const ids = this.#replica.rows("channels").flatMap((row) => (row.isPrivate && !row.isArchived ? [row.id] : []));
    return ids.length === 0 ? -1 : this.random.pick(ids);
  }

  administrator(): number {
    return this.random.chance(0.85) ? 2 : this.user();
  }

  channel(): number {
    return this.random.chance(0.4) ? 1 : this.id("channels");
  }

  channelName(): string {
    return this.#replica.get("channels", this.channel())?.name ?? "none";
  }

  /** Mostly a new one. */
  message(): number {
    if (!this.random.chance(0.7)) return this.id("messages");
    const recent = this.#replica.keys("messages").slice(-12);
    return recent.length === 0 ? 1 : (this.random.pick(recent) as number);
  }

  group(): number {
    return this.random.chance(0.3) ? 1 + this.random.below(8) : this.id("groups");
  }

  topic(): string {
    return this.random.pick(topics);
  }

  flip(): boolean {
    return this.random.chance(0.5);
  }

  /** A value, or null for "no change". */
  maybe<T>(value: T): T | null {
    return this.flip() ? value : null;
  }

  /** A text that no other message has. */
  token(): string {
    this.#tokens++;
    return `t${this.#tokens}${this.random.pick(ends)}`;
  }

  name(): string {
    this.#names++;
    return `n${this.#names}`;
  }

  /** One of a few names, so that it is occasionally in use. */
  oneOfFew(): string {
    return `n${this.random.below(4)}`;
  }

  later(): number {
    return this.#now() + this.random.pick([10, 1000, 30_000, 300_000, 900_000]);
  }

  hex(digits: number): string {
    return Array.from({ length: digits }, () => this.random.below(16).toString(16)).join("");
  }
}

export function parsed(text: string): ParsedContent {
  return parseContent(text, { linkifiers: [], translateEmoticons: false });
}

/** A text with its parsed form, as requests contain it. */
export function textOf(text: string) {
  return { text, parsed: parsed(text) };
}
