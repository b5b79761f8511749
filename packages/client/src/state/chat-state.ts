/**
 * The state that a client knows: the answer of POST /register, kept up to date by events. A state is never changed: an
 * event gives the next one, which shares everything that did not change.
 */
import type { Events, Operations } from "../api/index.ts";

type Registered = Operations["POST /register"]["result"];

export interface ChatState extends Registered {
  /** Unread messages by conversation (`channelKey`, `directKey`), ascending. */
  readonly unread: ReadonlyMap<string, readonly number[]>;
  readonly starred: ReadonlySet<number>;
  /** Unread messages that mention the user. */
  readonly mentions: ReadonlySet<number>;
  /** Channels that became visible by an event and were not joined since. */
  readonly appeared: ReadonlySet<number>;
}

export interface ReducerOptions {
  /** Whether the queue was registered with subscribers. */
  readonly includesSubscribers: boolean;
  /** The user that older clients show instead of one that they may not know; null: they have no entry. */
  readonly unknownUser: ((userId: number) => NonNullable<Registered["realm_users"]>[number]) | null;
}

export type EventOfType<T extends keyof Events> = Events[T];
/** The changed fields, to be laid over the state. */
export type Changes = Partial<ChatState>;
export type Reducer<T extends keyof Events> = (state: ChatState, event: Events[T], options: ReducerOptions) => Changes;
export type Reducers = { readonly [T in keyof Events]?: Reducer<T> };

export const noChange: Changes = {};

/** The conversation of a topic, as a key of `unread`. */
export function channelKey(channelId: number, topic: string): string {
  return `${channelId}:${topic}`;
}

/** The same of a direct conversation, by the other participants. Alone with oneself: the empty text. */
export function directKey(others: readonly number[]): string {
  return [...others].sort((a, b) => a - b).join();
}

/** Ascending, each once. */
export function united(ids: readonly number[], more: readonly number[]): number[] {
  return [...new Set([...ids, ...more])].sort((a, b) => a - b);
}

/** Adds to an ascending list; messages arrive at its end as a rule. */
export function inserted(ids: readonly number[], id: number): readonly number[] {
  const last = ids.at(-1);
  if (last === undefined || last < id) return [...ids, id];
  return ids.includes(id) ? ids : united(ids, [id]);
}
