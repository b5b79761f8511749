/**
 * The kinds of actors: the machine for each address, how its snapshot is loaded, and what it writes. Everything here
 * is pure: rows are read through the view and written as effects.
 *
 * Commands that may run between the slices of a longer command. Usually none may (M7). Users' policies for a topic are
 * found by its name, so while thousands of them follow a topic to its new name, everything that depends on the
 * policies of either name waits, and posts elsewhere do not. While one request creates many channels, posts to others
 * do not wait either.
 */
import type { AnyStateMachine } from "xstate";
import type { View } from "../domain/view.ts";
import { fold } from "../schemas/fold.ts";
import type { ChannelId } from "../schemas/ids.ts";
import type { KeyOf, RowOf } from "../schemas/records.ts";
import type { SnapshotRecord } from "../schemas/runtime.ts";
import { type KnownInvitation, stateOf } from "./invitation/lifecycle.ts";
import { invitationMachine } from "./invitation/machine.ts";
import { mailMachine } from "./mail/machine.ts";
import { presenceMachine } from "./presence/machine.ts";
import { type Address, type Command, type CommandType, type Effect, effects } from "./protocol/decision.ts";
import type { PendingDelivery } from "./protocol/delivery.ts";
import type { PlainSnapshot } from "./protocol/record-machines.ts";
import { channelFolderRecords } from "./realm/channel-folder-machine.ts";
import { channelRecords } from "./realm/channel-machine.ts";
import { realmMachine, realmMachineVersion } from "./realm/machine.ts";
import { userGroups } from "./realm/user-group-machine.ts";
import { initialRetention } from "./retention/context.ts";
import { retentionMachine, retentionMachineVersion } from "./retention/machine.ts";
import { contextOf, conversationIdOf, emptyContext, rowOf, type TopicContext } from "./topic/context.ts";
import { topicMachine, topicMachineVersion } from "./topic/machine.ts";
import { initialTopicDeletion } from "./topic-deletion/batches.ts";
import { topicDeletionMachine, topicDeletionMachineVersion } from "./topic-deletion/machine.ts";
import { typingMachine } from "./typing/machine.ts";
import { userMachine } from "./user/machine.ts";
import { scheduledMessages } from "./user/scheduled-message-machine.ts";
import { webhookMachine } from "./webhook/machine.ts";

interface TopicAddress {
  readonly channelId: ChannelId;
  readonly topic: string;
}

/** Decisions that never depend on a policy for a topic. */
const independentTypes: ReadonlySet<CommandType> = new Set([
  "read-state.mark-all",
  "read-state.mark-channel",
  "read-state.mark-topic",
]);

/** Whether a request may be decided before the rest of another command. Its decision must never continue itself. */
export function mayRunBetween(command: Command, continued: Command): boolean {
  const busy = busyTopics(continued);
  if (busy === null) return false;
  const { to, type } = command;
  if (actorKinds[to.actor].isVolatile || independentTypes.has(type)) return true;
  if (type !== "message.post") return false;
  return to.actor === "direct" || (to.actor === "topic" && !busy.some((place) => isSame(place, to)));
}

/** The topics whose policies are changing; null: the command does not wait. */
function busyTopics(continued: Command): readonly TopicAddress[] | null {
  switch (continued.type) {
    case "user-topics.move": {
      const { from, to } = (continued as Command<"user-topics.move">).params;
      return [from, to];
    }
    case "user-topics.end":
      return [(continued as Command<"user-topics.end">).params.place];
    case "members.change":
      // It creates channels, which other conversations do not depend on.
      return [];
    default:
      return null;
  }
}

function isSame(one: TopicAddress, other: TopicAddress): boolean {
  return one.channelId === other.channelId && fold(one.topic) === fold(other.topic);
}

export interface ActorKind {
  readonly machine: AnyStateMachine;
  /** Volatile actors write nothing and are lost on restart (E4). */
  readonly isVolatile: boolean;
  /** Key of the live actor in memory; null: the actor has no id yet and is not cached. */
  keyOf(address: Address, view: View): string | null;
  /** Key after a command, from the resulting context: a conversation can gain or lose its id. */
  keyAfter(key: string | null, context: unknown): string | null;
  load(address: Address, view: View): PlainSnapshot | null;
  /** State and context of an actor that does not exist yet. */
  initial(address: Address): PlainSnapshot;
  save(address: Address, before: PlainSnapshot, after: PlainSnapshot): Effect[];
}

type AddressOf<A extends Address["actor"]> = Extract<Address, { actor: A }>;

/** Migrations of snapshots, by the version that wrote the snapshot. */
type SnapshotMigrations = Readonly<Record<number, (snapshot: PlainSnapshot, view: View) => PlainSnapshot>>;

/** An actor whose snapshot is a row of `snapshots`. The row is deleted when the actor returns to its initial state. */
function snapshotKind(
  machine: AnyStateMachine,
  version: number,
  key: (address: never) => string,
  initial: PlainSnapshot,
  migrations: SnapshotMigrations = {},
): ActorKind {
  const keyOf = (address: Address) => key(address as never);
  return {
    machine,
    isVolatile: false,
    keyOf,
    keyAfter: (key) => key,
    load(address, view) {
      const row = view.row("snapshots", keyOf(address));
      return row === undefined ? null : migrate(row, version, migrations, view);
    },
    initial: () => initial,
    save(address, _before, after) {
      const isInitial = after.state === initial.state;
      if (isInitial) return [effects.remove("snapshots", keyOf(address))];
      return [effects.put("snapshots", keyOf(address), { version, state: after.state, context: after.context })];
    },
  };
}

/** @throws Error if a newer program wrote the snapshot, or if no migration to the next version exists */
function migrate(row: SnapshotRecord, version: number, migrations: SnapshotMigrations, view: View): PlainSnapshot {
  let snapshot: PlainSnapshot = { state: row.state, context: row.context };
  if (row.version > version) throw new Error(`snapshot version ${row.version} is newer than this program supports`);
  for (let at = row.version; at < version; at++) {
    const step = migrations[at];
    if (step === undefined) throw new Error(`no migration for a snapshot of version ${at}`);
    snapshot = step(snapshot, view);
  }
  return snapshot;
}

function volatileKind(machine: AnyStateMachine, key: (address: never) => string, initial: PlainSnapshot): ActorKind {
  return {
    machine,
    isVolatile: true,
    keyOf: (address) => key(address as never),
    keyAfter: (name) => name,
    load: () => null,
    initial: () => initial,
    save: () => [],
  };
}

/**
 * A conversation is addressed by its topic, its participants, its id or one of its messages. Its row also serves as the
 * list of topics.
 */
const topicKind: ActorKind = {
  machine: topicMachine,
  isVolatile: false,
  keyOf(address, view) {
    const id = conversationIdOf(address, view);
    return id === null ? null : conversationKey(id);
  },
  keyAfter(_key, context) {
    const { id } = context as TopicContext;
    return id === null ? null : conversationKey(id);
  },
  load(address, view) {
    const id = conversationIdOf(address, view);
    const row = id === null ? undefined : view.row("conversations", id);
    if (row === undefined) return null;
    const snapshot = { version: row.version, state: row.state, context: contextOf(row) };
    return migrate(snapshot, topicMachineVersion, {}, view);
  },
  initial: (address) => ({ state: "empty", context: emptyContext(address) }),
  save(_address, before, after) {
    const context = after.context as TopicContext;
    const formerId = (before.context as TopicContext).id;
    if (context.id === null) return formerId === null ? [] : [effects.remove("conversations", formerId)];
    const row = rowOf(context.id, after.state, topicMachineVersion, context);
    return [effects.put("conversations", context.id, row)];
  },
};

function conversationKey(id: number): string {
  return `conversation:${id}`;
}

/**
 * A pending delivery: it is as its row says, in every turn. A delivery without a row has ended, and its outcome no
 * longer matters.
 */
function deliveryKind<T extends "mails" | "webhookDeliveries">(
  machine: AnyStateMachine,
  table: T,
  rowKey: (address: never) => KeyOf<T>,
): ActorKind {
  return {
    machine,
    isVolatile: false,
    keyOf: () => null,
    keyAfter: () => null,
    load(address, view) {
      const row = view.row(table, rowKey(address as never));
      if (row === undefined) return null;
      return { state: "pending", context: { row } satisfies PendingDelivery<RowOf<T>> };
    },
    initial: () => ended,
    save: () => [],
  };
}

const ended: PlainSnapshot = { state: "sent", context: {} };

/** An invitation is as its row, the time and its inviter say, in every turn; the decisions write the row. */
const invitationKind: ActorKind = {
  machine: invitationMachine,
  isVolatile: false,
  keyOf: () => null,
  keyAfter: () => null,
  load(address, view) {
    const row = view.row("invitations", (address as AddressOf<"invitation">).id);
    if (row === undefined) return null;
    return { state: stateOf(view, row), context: { row } satisfies KnownInvitation };
  },
  initial: () => unknownInvitation,
  save: () => [],
};

const unknownInvitation: PlainSnapshot = { state: "unknown", context: {} };

/**
 * The state of a user is in the user's row, which the realm writes in its own turn (M7). The actor has nothing of its
 * own, so it is not kept in memory and has no snapshot: it is as the row says, in every turn.
 */
const userKind: ActorKind = {
  machine: userMachine,
  isVolatile: false,
  keyOf: () => null,
  keyAfter: () => null,
  load: (address, view) =>
    view.users.get((address as AddressOf<"user">).id)?.isActive === false ? deactivatedUser : null,
  initial: () => activeUser,
  save: () => [],
};

const activeUser: PlainSnapshot = { state: "active", context: {} };
const deactivatedUser: PlainSnapshot = { state: "deactivated", context: {} };

/** The machines of records that another actor keeps (protocol/record-machines.ts). */
export const recordMachines = [channelRecords, channelFolderRecords, scheduledMessages, userGroups] as const;

export const actorKinds: Readonly<Record<Address["actor"], ActorKind>> = {
  realm: snapshotKind(realmMachine, realmMachineVersion, () => "realm", {
    state: "uninitialized",
    context: {},
  }),
  user: userKind,
  topic: topicKind,
  direct: topicKind,
  conversation: topicKind,
  message: topicKind,
  "topic-deletion": snapshotKind(
    topicDeletionMachine,
    topicDeletionMachineVersion,
    (to: AddressOf<"topic-deletion">) => `topic-deletion:${to.channelId}:${fold(to.topic)}`,
    { state: "idle", context: initialTopicDeletion },
  ),
  retention: snapshotKind(retentionMachine, retentionMachineVersion, () => "retention", {
    state: "idle",
    context: initialRetention,
  }),
  invitation: invitationKind,
  mail: deliveryKind(mailMachine, "mails", (to: AddressOf<"mail">) => to.id),
  webhook: deliveryKind(webhookMachine, "webhookDeliveries", (to: AddressOf<"webhook">) => [to.botId, to.id]),
  presence: volatileKind(presenceMachine, (to: AddressOf<"presence">) => `presence:${to.userId}`, {
    state: "offline",
    context: { activeUntil: 0, idleUntil: 0 },
  }),
  typing: volatileKind(typingMachine, (to: AddressOf<"typing">) => `typing:${to.conversation}`, {
    state: "silent",
    context: { typists: {} },
  }),
};
