/**
 * One area of the server (channels, drafts, ...) in one declaration: its operations, commands, tables, events, counters
 * and limits. Everything else is derived from the list of areas (areas.ts).
 */
import type { TProperties } from "typebox";
import type { Endpoint } from "./endpoint.ts";
import type { EventDeclaration } from "./event.ts";

/** A row whose key contains all its data. */
export type Empty = Readonly<Record<string, never>>;

export type Key = number | string | readonly (number | string)[];

/** Converts a stored row of one version to the next version. */
export type Migration = (row: Record<string, unknown>) => Record<string, unknown>;

export interface Table<K extends Key, R> {
  /** The order of a row's fields on disk. Append only. */
  readonly fields: readonly (keyof R & string)[];
  /** Fields that contain the time of an event. Times that users chose, such as `expiresAt`, are not among them. */
  readonly dates?: readonly (keyof R & string)[];
  /** Migrations by the version that they start from, from 1 on without gaps. They determine the table's version. */
  readonly migrations?: Readonly<Record<number, Migration>>;
  /** Used by the compiler only. */
  readonly types?: { readonly key: K; readonly row: R };
}

export interface AnyTable extends Omit<Table<Key, unknown>, "fields" | "dates"> {
  readonly fields: readonly string[];
  readonly dates?: readonly string[];
}

export function defineTable<K extends Key, R>(table: Table<K, R>): Table<K, R> {
  return table;
}

/** The commands of an area, by type: their parameters, and the replies of those that reply with fields. */
export interface Commands<Params, Replies> {
  /** Used by the compiler only. */
  readonly types?: { readonly params: Params; readonly replies: Replies };
}

export function defineCommands<Params, Replies = Readonly<Record<never, never>>>(): Commands<Params, Replies> {
  return {};
}

interface AreaDeclaration {
  readonly endpoints?: readonly Endpoint[];
  readonly commands?: Commands<unknown, unknown>;
  readonly tables?: Readonly<Record<string, AnyTable>>;
  /** Events that are sent as they are stored, by type; others need a builder (src/edge/realtime) and are listed in events.ts. */
  readonly events?: Readonly<Record<string, EventDeclaration>>;
  /** Its sections of the state that POST /register returns, by event type (register.ts). */
  readonly state?: Readonly<Record<string, TProperties>>;
  /** The realm's counters: allocated ids, and how far recurring work has progressed. */
  readonly counters?: readonly string[];
  /** Limits, with their units in the names (S3). */
  readonly limits?: Readonly<Record<string, number>>;
}

export function defineArea<const A extends AreaDeclaration>(area: A): A {
  return area;
}

type Intersection<U> = (U extends unknown ? (part: U) => void : never) extends (all: infer All) => void ? All : never;

/** One property of all areas that declare it, merged. */
export type AllOf<A, Property extends string> = Intersection<
  A extends unknown ? (A extends { readonly [P in Property]: infer Part } ? Part : never) : never
>;
