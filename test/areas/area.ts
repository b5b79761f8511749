/**
 * The cases of one area for the tests that cover every area: permissions, other users' ids, fuzz, simulation, lists
 * that events keep up to date, sections of POST /register. Each of these tests fails if an area lacks the cases that it
 * needs.
 */
import type { Command, CommandType } from "../../actors/protocol/decision.ts";
import type { limits } from "../../schemas/limits.ts";
import type { KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import type { Audience, RestrictedRequest } from "../permissions/endpoints.ts";
import type { Replica } from "../sim/replica.ts";
import type { Draw } from "../sim/world.ts";
import type { Client, Params } from "../support/client.ts";
import type { Apply } from "./lists.ts";

/** Creates a record of the client's own, and returns its id. */
export type Make = (client: Client) => Promise<number>;

// biome-ignore lint/suspicious/noExplicitAny: the body of a successful answer, which was validated against its schema
type Body = any;

/** The records in an answer, by kind; `undefined` if it contains none. */
export type Learned = readonly (readonly [thing: string, value: unknown])[];

export interface FuzzCases {
  /** Kinds of records whose ids, names and paths are taken from answers, so that later inputs can refer to them. */
  readonly things?: readonly string[];
  /** Creates a record of a kind for each user of the fuzz, besides those of `owned`. */
  readonly makes?: Readonly<Record<string, Make>>;
  /** The kind of record that a parameter refers to, by the parameter's name, or by operation and name. */
  readonly meanings?: Readonly<Record<string, string>>;
  /** By operation. */
  readonly learned?: Readonly<Record<string, (body: Body, target: string) => Learned>>;
}

export type Answer = Readonly<Record<string, unknown>>;
export type FactKey = readonly (string | number)[];

/** The values that a successful request sets. `forgets`: facts that are no longer known after it. */
export interface Consequence {
  readonly claims: readonly { readonly key: FactKey; readonly value: unknown }[];
  readonly forgets?: (key: FactKey) => boolean;
  /** Messages about which nothing is known any more. */
  readonly forgetsMessages?: (messageId: number, replica: Replica) => boolean;
  /** This message was deleted, or may have been: a late response to its post says nothing about the present. */
  readonly deletes?: number;
}

export const nothing: Consequence = { claims: [] };

/** For commands that may end subscriptions; which ones is not predicted. */
export const forgetsSubscriptions: Consequence = { claims: [], forgets: ([kind]) => kind === "subscription" };

/** The message that a command is addressed to. */
export function messageIdOf({ to }: Command): number {
  return to.actor === "message" ? to.id : 0;
}

export type FactReaders = {
  readonly [T in CommandType]?: (command: Command<T>, answer: Answer | null) => Consequence;
};

/** Reads the store. The ids are the rest of a fact's key. */
type ReadFact<V> = (replica: Replica, one: string | number, other: string | number, third: string | number) => V;

export interface FactCases {
  readonly readers?: FactReaders;
  /** The value in the store, by the kind of fact (the beginning of its key). */
  readonly actual?: Readonly<Record<string, ReadFact<unknown>>>;
  /** Kinds of facts about a message. Its id follows the kind in their keys. */
  readonly ofMessages?: readonly string[];
  /** Kinds of facts that may become false without a request, and whether this one may have. */
  readonly mayEnd?: Readonly<Record<string, ReadFact<boolean>>>;
  /** Tables from which a broken store loses rows, which the comparison of facts must detect. */
  readonly tables?: readonly TableName[];
}

export interface ListCases {
  /** By event type; each is a state type, too. */
  readonly appliers: Readonly<Record<string, Apply>>;
  /** The lists' names in the state, and whether their order has a meaning. */
  readonly keys: Readonly<Record<string, "ordered" | "any order">>;
  /** Causes every op. */
  readonly play: (owner: Client, other: Client) => Promise<void>;
}

/** Sends a successful request of an operation. @returns the answer's body */
// biome-ignore lint/suspicious/noExplicitAny: the body of an answer, which the client compared with its declaration
export type Call = (operationId: string, params?: Readonly<Record<string, unknown>>) => Promise<any>;

type LimitName = keyof typeof limits;

/** A row of docs/account-bounds.md. */
export interface AccountBound {
  readonly what: string;
  readonly limits: readonly LimitName[];
  /** How many rows of each of the tables. */
  readonly rows: number;
  readonly tables: readonly TableName[];
  /** Beside the rows. */
  readonly diskBytes?: number;
  readonly memoryBytes?: number;
  /** A test at the bound: its file, and the beginning of its title. */
  readonly test: readonly [path: string, title: string];
}

/** Of these the longest rows consist. */
export interface Longest {
  readonly userId: number;
  readonly now: number;
  /** A text of the widest characters. */
  wide(codePoints: number): string;
  readonly message: string;
}

/** What one account can store of an area. */
export interface AccountCases {
  readonly bound: AccountBound;
  /** By table: the longest row; `index` keeps rows apart. */
  readonly longest: { readonly [T in TableName]?: (index: number, longest: Longest) => readonly [KeyOf<T>, RowOf<T>] };
}

export interface Cases {
  /** One request of every operation, for the examples of the API documents (or in test/api-documents/plays.ts). */
  readonly examples?: (call: Call) => Promise<void>;
  /** Operations by the kind of callers that they admit. */
  readonly audiences?: Readonly<Partial<Record<Audience, readonly string[]>>>;
  /** Requests that the turn restricts to these callers; only the role of the caller can reject them. */
  readonly restricted?: Readonly<Partial<Record<Audience, readonly RestrictedRequest[]>>>;
  /** Ids in paths that belong to one user, by the variable's name. */
  readonly owned?: Readonly<Record<string, Make>>;
  /** Ids in paths that belong to the organization. */
  readonly shared?: Readonly<Record<string, Make>>;
  /** Valid parameters of operations on an id, by operation. */
  readonly forms?: Readonly<Record<string, () => Params>>;
  readonly fuzz?: FuzzCases;
  /** Requests of the simulation, by type of command; null: another test or the server itself sends it. */
  readonly draws?: Readonly<Partial<Record<CommandType, Draw | null>>>;
  /** How often the simulation draws a command; others have weight 1. */
  readonly weights?: Readonly<Partial<Record<CommandType, number>>>;
  /** Commands that only endpoints for humans create: the simulation draws none for a bot. */
  readonly ofPeople?: readonly CommandType[];
  readonly facts?: FactCases;
  readonly lists?: ListCases;
  readonly account?: AccountCases;
  /** Keys of the state, by the types of POST /register. */
  readonly state?: Readonly<Record<string, readonly string[]>>;
}

export function defineCases<const C extends Cases>(cases: C): C {
  return cases;
}
