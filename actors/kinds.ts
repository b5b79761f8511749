/**
 * The kinds of actors: which machine an address belongs to, how its snapshot is found and what it writes.
 * Everything here is pure: rows are read through the view, written as effects.
 */
import type { AnyStateMachine } from "xstate";
import { fold } from "../schemas/fold.ts";
import type { KeyOf, SnapshotRecord } from "../schemas/records.ts";
import type { View } from "../src/domain/view.ts";
import type { Address } from "./commands.ts";
import type { DeliveryContext } from "./delivery.ts";
import { type Effect, effects } from "./effects.ts";
import { type InvitationContext, invitationMachine } from "./invitation/machine.ts";
import { mailMachine } from "./mail/machine.ts";
import { presenceMachine } from "./presence/machine.ts";
import { realmMachine, realmMachineVersion } from "./realm/machine.ts";
import { initialRetention, retentionMachine, retentionMachineVersion, withoutLeaps } from "./retention/machine.ts";
import { contextOf, conversationIdOf, emptyContext, rowOf } from "./topic/context.ts";
import { type TopicContext, topicMachine, topicMachineVersion } from "./topic/machine.ts";
import {
  initialTopicDeletion,
  type TopicDeletionContext,
  topicDeletionMachine,
  topicDeletionMachineVersion,
} from "./topic-deletion/machine.ts";
import { typingMachine } from "./typing/machine.ts";
import { userMachine, userMachineVersion } from "./user/machine.ts";
import { webhookMachine } from "./webhook/machine.ts";

export interface PlainSnapshot {
  readonly state: string;
  readonly context: unknown;
}

export interface ActorKind {
  readonly machine: AnyStateMachine;
  /** Volatile actors write nothing and do not survive a restart (E4). */
  readonly isVolatile: boolean;
  /** Names the live actor in memory; null: it has no identity yet and is not kept. */
  keyOf(address: Address, view: View): string | null;
  /** The name after a command, from what it left: a conversation gets and loses its id. */
  keyAfter(key: string | null, context: unknown): string | null;
  load(address: Address, view: View): PlainSnapshot | null;
  /** State and context of an actor that has never been. */
  initial(address: Address): PlainSnapshot;
  save(address: Address, before: PlainSnapshot, after: PlainSnapshot): Effect[];
}

type AddressOf<A extends Address["actor"]> = Extract<Address, { actor: A }>;

/** Migrations of a context, by the version it was written with. */
type ContextMigrations = Readonly<Record<number, (context: unknown) => unknown>>;

/** An actor whose snapshot is a row of `snapshots`. One that is back in its initial state needs none. */
function snapshotKind(
  machine: AnyStateMachine,
  version: number,
  key: (address: never) => string,
  initial: PlainSnapshot,
  migrations: ContextMigrations = {},
): ActorKind {
  const keyOf = (address: Address) => key(address as never);
  return {
    machine,
    isVolatile: false,
    keyOf,
    keyAfter: (key) => key,
    load(address, view) {
      const row = view.row("snapshots", keyOf(address));
      return row === undefined ? null : migrate(row, version, migrations);
    },
    initial: () => initial,
    save(address, _before, after) {
      const isInitial = after.state === initial.state;
      if (isInitial) return [effects.remove("snapshots", keyOf(address))];
      return [effects.put("snapshots", keyOf(address), { version, state: after.state, context: after.context })];
    },
  };
}

/** @throws Error when a snapshot is from a newer program, or a step is missing */
function migrate(row: SnapshotRecord, version: number, migrations: ContextMigrations): PlainSnapshot {
  let context = row.context;
  if (row.version > version) throw new Error(`snapshot of version ${row.version} is newer than this program`);
  for (let at = row.version; at < version; at++) {
    const step = migrations[at];
    if (step === undefined) throw new Error(`no migration of a snapshot from version ${at}`);
    context = step(context);
  }
  return { state: row.state, context };
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

/** A conversation is found by its topic, its participants, its id or a message; its row is the list of topics, too. */
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
    return migrate({ version: row.version, state: row.state, context: contextOf(row) }, topicMachineVersion, {});
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

/** What is on its way: its row is the snapshot. Who has none is over, and how it ended matters to nobody any more. */
function deliveryKind<T extends "mails" | "webhookDeliveries">(
  machine: AnyStateMachine,
  table: T,
  rowKey: (address: never) => KeyOf<T>,
): ActorKind {
  return {
    machine,
    isVolatile: false,
    keyOf: (address) => `${machine.id}:${rowKey(address as never)}`,
    keyAfter: (key) => key,
    load(address, view) {
      const context: DeliveryContext = { fate: "pending" };
      return view.row(table, rowKey(address as never)) === undefined ? null : { state: "pending", context };
    },
    initial: () => ({ state: "sent", context: { fate: "sent" } satisfies DeliveryContext }),
    save: () => [],
  };
}

/** An invitation's row has its state; decisions write it. */
const invitationKind: ActorKind = {
  machine: invitationMachine,
  isVolatile: false,
  keyOf: (address) => `invitation:${(address as AddressOf<"invitation">).id}`,
  keyAfter: (key) => key,
  load(address, view) {
    const row = view.row("invitations", (address as AddressOf<"invitation">).id);
    return row === undefined ? null : { state: row.state, context: { fate: row.state } satisfies InvitationContext };
  },
  initial: () => ({ state: "unknown", context: { fate: "unknown" } satisfies InvitationContext }),
  save: () => [],
};

export const actorKinds: Readonly<Record<Address["actor"], ActorKind>> = {
  realm: snapshotKind(realmMachine, realmMachineVersion, () => "realm", {
    state: "unfounded",
    context: { isFounded: false },
  }),
  user: snapshotKind(userMachine, userMachineVersion, (to: AddressOf<"user">) => `user:${to.id}`, {
    state: "active",
    context: {},
  }),
  topic: topicKind,
  direct: topicKind,
  conversation: topicKind,
  message: topicKind,
  "topic-deletion": snapshotKind(
    topicDeletionMachine,
    topicDeletionMachineVersion,
    (to: AddressOf<"topic-deletion">) => `topic-deletion:${to.channelId}:${fold(to.topic)}`,
    { state: "idle", context: initialTopicDeletion },
    { 1: (context) => ({ ...(context as Omit<TopicDeletionContext, "newestId">), newestId: 0 }) },
  ),
  retention: snapshotKind(
    retentionMachine,
    retentionMachineVersion,
    () => "retention",
    { state: "idle", context: initialRetention },
    { 1: withoutLeaps },
  ),
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
