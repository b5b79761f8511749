/**
 * The commands that the test of all machines (test/runtime/machines.test.ts) sends to each machine, and a realm in
 * which they are meaningful.
 */
import fc from "fast-check";
import type { AnyStateMachine } from "xstate";
import { actorKinds } from "../../actors/kinds.ts";
import { type Command, command } from "../../actors/protocol/decision.ts";
import type { PlainSnapshot } from "../../actors/protocol/record-machines.ts";
import { initialRetention } from "../../actors/retention/context.ts";
import type { InvitationRecord } from "../../schemas/invites.ts";
import { limits } from "../../schemas/limits.ts";
import { editCommand, reactCommand } from "./message-changes.ts";
import { dayMs } from "./retention.ts";
import {
  answerOf,
  commands,
  createUsers,
  generalId,
  type OpenRealm,
  openNewRealm,
  ownerId,
  startedAt,
} from "./runtime.ts";
import type { Teardown } from "./server.ts";

/** One machine's test: its commands and its realm. */
export interface Subject {
  readonly name: string;
  readonly machine: AnyStateMachine;
  readonly initial: PlainSnapshot;
  /** Where the actor also begins: in a state that another actor decides. */
  readonly others?: readonly PlainSnapshot[];
  readonly sent: fc.Arbitrary<Command>;
  /** Milliseconds that may pass between two commands. */
  readonly pauses: readonly number[];
  /** The state that follows from the row of a record (actors/protocol/record-machines.ts). */
  readonly stateOf?: (row: unknown) => string;
}

/** A realm with users, two channels, a short and a long topic: something for every decision. */
export async function populated(t: Teardown): Promise<OpenRealm> {
  const bench = await openNewRealm(t);
  await createUsers(bench, 3);
  answerOf(await bench.ask(commands.createChannel("sales", [ownerId, 3])));
  await bench.ask(commands.register(ownerId, "q1"));
  const long = limits.topic_deletion_batch_messages_busy + 1;
  await Promise.all([
    ...Array.from({ length: long }, (_, index) => bench.ask(commands.post("long", `m${index}`))),
    bench.ask(commands.post("short", "hi")),
    bench.ask(commands.post("moving", "hi")),
    bench.ask(commands.direct([2, 3], "hi")),
  ]);
  await bench.idle();
  bench.lmdb.transaction(() => {
    bench.lmdb.put("mails", 1, mail);
    for (const id of [1, 2]) {
      // The second invitation has expired.
      const expiresAt = id === 1 ? null : 1;
      bench.lmdb.put("invitations", id, { ...invitation, id, expiresAt });
    }
    bench.lmdb.put("webhookDeliveries", [3, 1], webhook);
    bench.lmdb.put("emailChanges", "k", { userId: 3, newEmail: "other@example.com", createdAt: startedAt });
  });
  // Changed in memory only, so that nothing is swept meanwhile.
  const { realm } = bench.realm.view;
  const settings = { ...realm.settings, message_retention_days: 1 };
  bench.realm.projections.apply({ table: "realm", key: "realm", row: { ...realm, settings } });
  const { view } = bench.realm;
  const id = view.row("topicNames", [generalId, "moving"])?.id ?? 0;
  const conversation = view.row("conversations", id);
  if (conversation === undefined) throw new Error("there is no topic that moves");
  bench.realm.dispatcher.view.cache.apply({ table: "conversations", key: id, row: { ...conversation, movingId: 1 } });
  return bench;
}

const mail = { id: 1, template: "new-login", to: "o@x.y", data: {}, createdAt: 0, attempts: 0, dueAt: 0 };

const webhook = { id: 1, botId: 3, messageId: 1, trigger: "mention", createdAt: 0, attempts: 0, dueAt: 0 };

const invitation: InvitationRecord = {
  id: 1,
  state: "valid",
  email: "invited@example.org",
  inviterId: ownerId,
  createdAt: 0,
  expiresAt: null,
  role: 400,
  channelIds: [generalId],
  groupIds: [],
  includesDefaults: true,
  notifiesInviter: true,
  welcomeText: "hi",
  keyHashes: ["h"],
  timer: null,
};

const userId = fc.constantFrom(2, 3, 4, 99);

function kindOf(actor: Command["to"]["actor"], address: Command["to"]) {
  const kind = actorKinds[actor];
  return { machine: kind.machine, initial: kind.initial(address), pauses: [0] };
}

const realmCommands: fc.Arbitrary<Command> = fc.oneof(
  userId.map((id) => commands.createUser(`new${id}@example.com`, id)),
  userId.map((id) => command({ actor: "realm" }, "user.deactivate", { userId: id, comment: null }, 2)),
  fc.tuple(fc.constantFrom("general", "new"), fc.array(userId)).map(([name, ids]) => commands.createChannel(name, ids)),
  fc.constant(commands.subscribe(["general", "sales"], [3, 4])),
  fc.constant(commands.unsubscribe(["sales"], null)),
  fc.constant(
    command(
      { actor: "realm" },
      "members.change",
      { targets: [{ kind: "join", channelId: generalId, userIds: [3, 4], color: null }], waiting: null, after: [] },
      null,
    ),
  ),
  fc.constant(command({ actor: "realm" }, "channel.find-first-message", { channelId: generalId }, null)),
  fc.constant(command({ actor: "realm" }, "presence.persist", { rows: [] }, null)),
  fc.constant(
    command({ actor: "realm" }, "inputs.persist", { counts: [{ day: 1, userId: ownerId, reports: 1 }] }, null),
  ),
  fc
    .constantFrom("k", "none")
    .map((hash) => command({ actor: "realm" }, "user.email-change.confirm", { keyHash: hash }, null)),
);

const closing: fc.Arbitrary<Command> = fc.constantFrom(
  command({ actor: "realm" }, "realm.deactivate", {}, ownerId),
  command({ actor: "realm" }, "realm.reactivate", {}, null),
);

const found = command(
  { actor: "realm" },
  "realm.create",
  {
    label: "",
    name: "n",
    ownerEmail: "o@x.y",
    ownerFullName: "O",
    passwordHash: "",
    apiKeyHash: "k",
    setupSecret: null,
  },
  null,
);

const userCommands: fc.Arbitrary<Command> = fc.oneof(
  userId.map((id) => command({ actor: "user", id }, "user.api-key.add", { hash: "h" }, id)),
  userId.map((id) => commands.register(id, "q2")),
  userId.map((id) => {
    const login = { fingerprint: "f", client: "c", address: "a" };
    return command({ actor: "user", id }, "user.api-key.add", { hash: "h", login }, id);
  }),
  userId.map((id) => {
    const params = { newEmail: "new@example.com", keyHash: "k", link: "l" };
    return command({ actor: "user", id }, "user.email-change.request", params, id);
  }),
  userId.map((id) =>
    command({ actor: "user", id }, "user.email-change.expire", { keyHash: "k", requestedAt: startedAt }, null),
  ),
  fc
    .tuple(userId, fc.constantFrom("q1", "q2"))
    .map(([id, queueId]) => command({ actor: "user", id }, "queue.delete", { queueId }, id)),
);

/** One of the messages in the topic "long". */
const messageId = 1;

const topicCommands: fc.Arbitrary<Command> = fc.oneof(
  fc.tuple(fc.constantFrom("hi", "**b**", "@**all**"), userId).map(([text, id]) => commands.post("fresh", text, id)),
  fc.constant(command({ actor: "conversation", id: 0 }, "topic.refreshLastMessage", {}, null)),
  fc.constantFrom("elsewhere", "anywhere").map((topic) => editCommand(messageId, { topic })),
  fc.constant(reactCommand("add", messageId, "smile")),
  fc
    .constantFrom(1, 2)
    .map((moveId) => command({ actor: "conversation", id: 0 }, "topic.move-ended", { moveId, waiting: null }, null)),
);

const deletionCommands: fc.Arbitrary<Command> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom("short", "long", "moving", "unknown"),
      fc.constantFrom(startedAt - 1, Number.MAX_SAFE_INTEGER),
      userId,
    )
    .map(([topic, deadline, id]) => ({ ...commands.deleteTopic(topic, deadline), callerId: id, ticket: 7 })),
  fc
    .constantFrom(
      "topic-deletion.continue" as const,
      "topic-deletion.move-ended" as const,
      "topic-deletion.deadline" as const,
    )
    .chain((type) =>
      fc
        .constantFrom("", "moving")
        .map((topic) => command({ actor: "topic-deletion", channelId: generalId, topic }, type, {}, null)),
    ),
);

const abandoned = command(
  { actor: "topic-deletion", channelId: generalId, topic: "" },
  "topic-deletion.abandon",
  {},
  null,
);

const retentionCommands: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(command({ actor: "retention" }, "retention.sweep", {}, null)) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom("retention.check" as const, "retention.abandon" as const, "retention.confirm" as const)
      .map((type) => command({ actor: "retention" }, type, {}, null)),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(startedAt, startedAt + limits.retention_pause_ms_min)
      .map((dueAt) => command({ actor: "retention" }, "retention.due", { dueAt }, null)),
  },
);

const mailCommands: fc.Arbitrary<Command> = fc
  .constantFrom(
    ["mail.due", {}] as const,
    ["mail.sent", {}] as const,
    ["mail.abandon", {}] as const,
    ["mail.failed", { isPermanent: false, reason: "r" }] as const,
    ["mail.failed", { isPermanent: true, reason: "r" }] as const,
  )
  .map(([type, params]) => command({ actor: "mail", id: 1 }, type, params, null));

const invitationCommands: fc.Arbitrary<Command> = fc
  .tuple(
    fc.constantFrom(
      ["invitation.accept", { email: "", confirmation: null, fullName: "New", passwordHash: "h" }] as const,
      ["invitation.revoke", { isLink: false }] as const,
      [
        "invitation.edit",
        { expiry: { minutes: 5 }, role: 400, channelIds: null, groupIds: [], includesDefaults: true, welcome: null },
      ] as const,
      ["invitation.resend", { keyHash: "k", link: "l" }] as const,
      ["invitation.expire", {}] as const,
      ["invitation.forget", {}] as const,
    ),
    fc.constantFrom(1, 2),
    fc.constantFrom(null, 2, 3),
  )
  .map(([[type, params], id, callerId]) => command({ actor: "invitation", id }, type, params, callerId));

const webhookCommands: fc.Arbitrary<Command> = fc
  .constantFrom(
    ["webhook.due", {}] as const,
    ["webhook.answered", { reply: null }] as const,
    ["webhook.abandon", {}] as const,
    ["webhook.failed", { failure: "busy", status: 500 }] as const,
    ["webhook.failed", { failure: "refused", status: 404 }] as const,
  )
  .map(([type, params]) => command({ actor: "webhook", botId: 3, id: 1 }, type, params, null));

const presenceCommands: fc.Arbitrary<Command> = fc.oneof(
  fc.constantFrom("active" as const, "idle" as const).map((status) => commands.report(ownerId, status)),
  fc.constant(command({ actor: "presence", userId: ownerId }, "presence.lapse", {}, null)),
);

const typingCommands: fc.Arbitrary<Command> = fc.oneof(
  fc
    .tuple(fc.constantFrom("start" as const, "stop" as const), fc.constantFrom(2, 3))
    .map(([op, id]) => commands.typing(op, "a", id)),
  fc
    .constantFrom(2, 3)
    .map((id) =>
      command(
        { actor: "typing", conversation: "1:a" },
        "typing.expire",
        { userId: id, target: { kind: "channel", channelId: generalId, topic: "a" } },
        null,
      ),
    ),
);

export const subjects: readonly Subject[] = [
  { name: "realm", ...kindOf("realm", { actor: "realm" }), sent: fc.oneof(realmCommands, closing, fc.constant(found)) },
  {
    name: "user",
    ...kindOf("user", { actor: "user", id: 2 }),
    others: [{ state: "deactivated", context: {} }],
    sent: userCommands,
  },
  { name: "topic", ...kindOf("topic", { actor: "topic", channelId: 1, topic: "fresh" }), sent: topicCommands },
  {
    name: "topic-deletion",
    ...kindOf("topic-deletion", { actor: "topic-deletion", channelId: 1, topic: "long" }),
    sent: fc.oneof({ weight: 8, arbitrary: deletionCommands }, { weight: 1, arbitrary: fc.constant(abandoned) }),
  },
  {
    name: "retention",
    ...kindOf("retention", { actor: "retention" }),
    // It must differ from the realm's number of jumps.
    initial: { state: "idle", context: { ...initialRetention, allowedLeaps: -1 } },
    sent: retentionCommands,
    pauses: [0, 2 * dayMs],
  },
  {
    name: "mail",
    ...kindOf("mail", { actor: "mail", id: 1 }),
    initial: { state: "pending", context: { row: mail } },
    sent: mailCommands,
  },
  {
    name: "invitation",
    ...kindOf("invitation", { actor: "invitation", id: 1 }),
    initial: { state: "valid", context: { row: invitation } },
    others: [{ state: "lapsed", context: { row: { ...invitation, id: 2, expiresAt: 1 } } }],
    sent: invitationCommands,
  },
  {
    name: "webhook",
    ...kindOf("webhook", { actor: "webhook", botId: 3, id: 1 }),
    initial: { state: "pending", context: { row: webhook } },
    sent: webhookCommands,
  },
  {
    name: "presence",
    ...kindOf("presence", { actor: "presence", userId: 2 }),
    sent: presenceCommands,
    pauses: [0, 60_000, limits.presence_offline_threshold_s * 1000],
  },
  { name: "typing", ...kindOf("typing", { actor: "typing", conversation: "1:a" }), sent: typingCommands },
];
