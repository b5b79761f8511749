/**
 * A decision is a pure function of context, command and view (M4) that returns an outcome: effects, or a declared
 * refusal. States and guards are in the machines (machine-setup.ts), which name their decisions.
 *
 * The closed list of effects that a decision may return. Effects are data. The runtime applies all effects of a turn
 * or none, and answers and publishes only after the turn's flush (M1, M2).
 *
 * All commands by type: the messages that actors receive in their mailboxes. Commands are plain data (they are stored,
 * M3), carry the random values and hashes that a decision needs (M4), and name their caller, whose role is read in the
 * turn.
 */
import { isAdministrator } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import type { Answer, Ticket, WaitingRequest } from "../../schemas/answer.ts";
import type { AreaCommands, AreaReplies } from "../../schemas/areas.ts";
import type { NewChannel } from "../../schemas/channels.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import type { EventType, Exactly, StoredBody } from "../../schemas/events.ts";
import type { ChannelId, ConversationId, MessageId, UserId } from "../../schemas/ids.ts";
import type { CounterName, KeyOf, RowOf, TableName } from "../../schemas/records.ts";
import type { Audience } from "../../schemas/runtime.ts";
import type { UserRecord } from "../../schemas/users.ts";

/** The recipient of a command. Each address has one live actor; commands to the same address keep their order (M7). */
export type Address =
  | { readonly actor: "realm" }
  | { readonly actor: "user"; readonly id: UserId }
  | { readonly actor: "topic"; readonly channelId: ChannelId; readonly topic: string }
  /** Participants, ascending, including the sender. */
  | { readonly actor: "direct"; readonly userIds: readonly UserId[] }
  | { readonly actor: "conversation"; readonly id: ConversationId }
  /** The conversation that a message is in when the command is decided. */
  | { readonly actor: "message"; readonly id: MessageId }
  | { readonly actor: "topic-deletion"; readonly channelId: ChannelId; readonly topic: string }
  | { readonly actor: "retention" }
  | { readonly actor: "mail"; readonly id: number }
  | { readonly actor: "invitation"; readonly id: number }
  | { readonly actor: "webhook"; readonly botId: UserId; readonly id: number }
  | { readonly actor: "presence"; readonly userId: UserId }
  | { readonly actor: "typing"; readonly conversation: string };

/** @throws Error if the address is another actor's, which is a bug of the sender */
export function addressAs<A extends Address["actor"]>(to: Address, actor: A): Extract<Address, { readonly actor: A }> {
  if (to.actor !== actor) throw new Error(`${to.actor} is no ${actor}`);
  return to as Extract<Address, { readonly actor: A }>;
}

/** Parameters by command type. */
export interface CommandParams extends AreaCommands {
  /** Not in an area, because it contains commands. */
  "members.change": MembershipChange;
}

export type CommandType = keyof CommandParams;

export type Params<T extends CommandType> = CommandParams[T];

export interface Command<T extends CommandType = CommandType> {
  readonly to: Address;
  readonly type: T;
  readonly params: CommandParams[T];
  /** The user who made the request; null: the server itself. */
  readonly callerId: UserId | null;
  /** Set by the runtime when a caller waits for the answer. */
  readonly ticket: Ticket | null;
}

/** Builds a command. The runtime sets `ticket`. */
export function command<T extends CommandType>(
  to: Address,
  type: T,
  params: CommandParams[T],
  callerId: UserId | null,
): Command<T> {
  return { to, type, params, callerId, ticket: null };
}

/** The remaining part of a large membership change; `waiting` names the request to answer when it is complete. */
export interface MembershipChange {
  readonly targets: readonly {
    readonly kind: "join" | "leave";
    readonly channelId: ChannelId;
    readonly userIds: readonly UserId[];
    readonly color: string | null;
  }[];
  readonly waiting: (WaitingRequest & { readonly answer: Answer }) | null;
  /** Channels that the request creates, and that are not stored yet; they precede the members. */
  readonly creations?: readonly NewChannel[];
  /** The command to send when the work is done. */
  readonly after: readonly Command[];
}

/** The fields of the reply to a command. */
export type ReplyOf<T> = T extends keyof AreaReplies ? AreaReplies[T] : NoFields;

/** A reply without fields. */
export type NoFields = Readonly<Record<never, never>>;

/** The delivery that was abandoned, and the number of attempts. */
type FailedDelivery = Pick<RowOf<"deadLetters">, "attempts" | "delivery">;

/** A row to write. Key and row are those of the table. */
export type PutEffect<T extends TableName = TableName> = {
  readonly [Table in T]: {
    readonly kind: "put";
    readonly table: Table;
    readonly key: KeyOf<Table>;
    readonly row: RowOf<Table>;
  };
}[T];

export type RemoveEffect<T extends TableName = TableName> = {
  readonly [Table in T]: {
    readonly kind: "remove";
    readonly table: Table;
    readonly key: KeyOf<Table>;
    readonly row: null;
  };
}[T];

/**
 * A durable event: a row of the log, in the same transaction. It takes the next `span` positions in the order of
 * effects. More than one is needed if some clients receive the event in parts, each with its own id.
 */
export type EmitEffect<T extends EventType = EventType> = {
  readonly [Type in T]: {
    readonly kind: "emit";
    readonly type: Type;
    readonly body: StoredBody<Type>;
    readonly audience: Audience;
    readonly span: number;
  };
}[T];

/**
 * A volatile event (E4): it takes a position but has no row. Undelivered older events with the same `replaces` key are
 * dropped.
 */
export type EmitVolatileEffect<T extends EventType = EventType> = {
  readonly [Type in T]: {
    readonly kind: "emitVolatile";
    readonly type: Type;
    readonly body: StoredBody<Type>;
    readonly audience: Audience;
    readonly replaces: string;
  };
}[T];

export type Effect =
  | PutEffect
  | RemoveEffect
  /** Allocates ids: sets the counter to its new last value. */
  | { readonly kind: "setCounter"; readonly counter: CounterName; readonly last: number }
  | EmitEffect
  | EmitVolatileEffect
  /**
   * A command for another actor. It runs in this turn while the turn's budget lasts, otherwise from the durable mailbox
   * (M3).
   */
  | { readonly kind: "send"; readonly command: Command }
  /**
   * The remaining part of the same command, which continues in the next turn before any other command (M7) except those
   * that `mayRunBetween` (kinds.ts) lets through. At most one.
   */
  | { readonly kind: "continueNextTurn"; readonly command: Command }
  /** A durable timer (M8). */
  | { readonly kind: "schedule"; readonly dueAt: number; readonly command: Command }
  /** A dead letter: a command that is no longer retried, and the reason. */
  | { readonly kind: "deadLetter"; readonly command: Command; readonly error: string; readonly cause: FailedDelivery }
  /** A volatile timer; a later one with the same name replaces it. */
  | { readonly kind: "setVolatileTimer"; readonly name: string; readonly afterMs: number; readonly command: Command }
  /** Answers a request that an earlier turn left waiting. */
  | { readonly kind: "reply"; readonly ticket: Ticket; readonly answer: Answer }
  /**
   * A file that no row references any more. It is removed after the flush; if the process crashes before that, a sweep
   * removes it.
   */
  | { readonly kind: "discard"; readonly file: string }
  /** A user's latest presence, in memory; rows are written in batches (E4). */
  | { readonly kind: "updatePresence"; readonly row: RowOf<"presence"> };

/** The body has exactly the fields that schemas/events.ts declares for the type and op. */
function emit<T extends EventType, B extends StoredBody<T>>(
  type: T,
  body: Exactly<B, StoredBody<T>>,
  audience: Audience,
  span = 1,
): EmitEffect<T> {
  return { kind: "emit", type, body, audience, span };
}

function emitVolatile<T extends EventType, B extends StoredBody<T>>(
  type: T,
  body: Exactly<B, StoredBody<T>>,
  audience: Audience,
  replaces: string,
): EmitVolatileEffect<T> {
  return { kind: "emitVolatile", type, body, audience, replaces };
}

function put<T extends TableName>(table: T, key: KeyOf<T>, row: RowOf<T>): PutEffect<T> {
  return { kind: "put", table, key, row };
}

function remove<T extends TableName>(table: T, key: KeyOf<T>): RemoveEffect<T> {
  return { kind: "remove", table, key, row: null };
}

/** Effect builders. */
export const effects = {
  put,
  remove,
  setCounter: (counter: CounterName, last: number): Effect => ({ kind: "setCounter", counter, last }),
  emit,
  emitVolatile,
  send: (command: Command): Effect => ({ kind: "send", command }),
  continueNextTurn: (command: Command): Effect => ({ kind: "continueNextTurn", command }),
  schedule: (dueAt: number, command: Command): Effect => ({ kind: "schedule", dueAt, command }),
  deadLetter: (command: Command, error: string, cause: FailedDelivery): Effect => ({
    kind: "deadLetter",
    command,
    error,
    cause,
  }),
  setVolatileTimer: (name: string, afterMs: number, command: Command): Effect => ({
    kind: "setVolatileTimer",
    name,
    afterMs,
    command,
  }),
  reply: (ticket: Ticket, answer: Answer): Effect => ({ kind: "reply", ticket, answer }),
  discard: (file: string): Effect => ({ kind: "discard", file }),
  updatePresence: (row: RowOf<"presence">): Effect => ({ kind: "updatePresence", row }),
} as const;

export interface Done<C> {
  readonly kind: "done";
  /** null: the request is answered by a `reply` effect of a later turn. */
  readonly answer: Answer | null;
  readonly effects: readonly Effect[];
  readonly context?: Partial<C>;
  /** The state that follows, one of those that the machine lists for the event; its own or none: it stays. */
  readonly to?: string;
  /** The deferred answer, if it is already known: it is stored under the request's Idempotency-Key at once (D25). */
  readonly keptAnswer?: Answer;
}

export type Outcome<C = unknown> = Done<C> | Refusal;

/** @template W the context that it may write, if its state guarantees more of the context that it reads */
export type Decision<C, T extends CommandType, W = C> = (context: C, command: Command<T>, view: View) => Outcome<W>;

/** The decisions of a state, or those that an area adds to an actor, by type of command. */
export type Decisions<C, W = C> = { readonly [T in CommandType]?: Decision<C, T, W> };

/** A decision of any machine, as the driver calls it: the machine pairs it with its context and type of command. */
export type AnyDecision = (context: never, command: Command<never>, view: View) => Outcome;

export function done<C>(answer: Answer | null, effects: readonly Effect[], context?: Partial<C>, to?: string): Done<C> {
  if (to !== undefined && context !== undefined) return { kind: "done", answer, effects, context, to };
  if (to !== undefined) return { kind: "done", answer, effects, to };
  return context === undefined ? { kind: "done", answer, effects } : { kind: "done", answer, effects, context };
}

/** A command with these parameters, of any type. */
type With<P> = Omit<Command, "params"> & { readonly params: P };

/** Decides a request of a user, who is active (`refuseCaller`). The rarer arguments are last. */
type ForUser<P, K, C, W> = (caller: UserRecord, params: P, view: View, request: K, context: C) => Outcome<W>;

/** A decision about requests of users: its command always has a caller. */
export function forUser<P, K extends With<P>, C, W>(decide: ForUser<P, K, C, W>) {
  return (context: C, request: K & With<P>, view: View): Outcome<W> =>
    decide(requireCaller(request, view), request.params, view, request, context);
}

/** Like `forUser`; other callers are refused before anything else is looked at, and few decisions need the caller. */
export function forAdministrator<P, K extends With<P>, C, W>(
  decide: (params: P, view: View, caller: UserRecord, request: K, context: C) => Outcome<W>,
) {
  return (context: C, request: K & With<P>, view: View): Outcome<W> => {
    const caller = requireCaller(request, view);
    return isAdministrator(caller)
      ? decide(request.params, view, caller, request, context)
      : refuse.administratorRequired();
  };
}

/** A decision about requests of users that the server makes, too, for which `caller` is null. */
export function forEither<P, K extends With<P>, C, W>(
  decide: (caller: UserRecord | null, params: P, view: View, request: K, context: C) => Outcome<W>,
) {
  const decision = (context: C, request: K & With<P>, view: View): Outcome<W> =>
    decide(callerOf(request, view), request.params, view, request, context);
  return Object.assign(decision, serverMayCall);
}

/** A decision about what the server continues, expires or reports, and the operator commands. No user may. */
export function forServer<P, K extends With<P>, W>(decide: (params: P, view: View, request: K) => Outcome<W>) {
  const decision = (_context: unknown, request: K & With<P>, view: View): Outcome<W> =>
    request.callerId === null ? decide(request.params, view, request) : refuse.insufficientPermission();
  return Object.assign(decision, serverMayCall);
}

const serverMayCall = { mayServerCall: true } as const;

/** Whether the server itself sends the command, and not only users. */
export function mayServerCall(decision: object): boolean {
  return "mayServerCall" in decision;
}

/** The caller's user record; null if the server itself sent the command. */
export function callerOf({ callerId }: Pick<Command, "callerId">, view: View): UserRecord | null {
  return callerId === null ? null : (view.users.get(callerId) ?? null);
}

/** @throws Error if the server sent a command that only users may send, which is a bug (M6) */
function requireCaller({ callerId, type }: Pick<Command, "callerId" | "type">, view: View): UserRecord {
  const caller = callerId === null ? undefined : view.users.get(callerId);
  if (caller === undefined) throw new Error(`${type} has no caller`);
  return caller;
}

/**
 * Checked before every decision: the caller or the organization may have been deactivated between the request and its
 * turn, and the state in the turn decides (M7).
 */
export function refuseCaller({ callerId }: Command, view: View): Refusal | null {
  if (callerId === null) return null;
  if (view.users.get(callerId)?.isActive !== true) return refuse.userDeactivated();
  return view.realm.deactivatedAt === null ? null : refuse.realmDeactivated();
}
