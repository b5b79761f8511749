/**
 * Random days of a realm: commands of every durable area, valid ones, rejected ones and ones that throw, in batches
 * that arrive together, with time that passes and crashes in between.
 */
import fc from "fast-check";
import { type Command, command } from "../../actors/protocol/decision.ts";
import { refuse } from "../../schemas/errors.ts";
import { deleteCommand, editCommand, reactCommand } from "./message-changes.ts";
import { groupCommands } from "./random-groups.ts";
import { commands, startedAt } from "./runtime.ts";
import { randomScheduled } from "./scheduled-commands.ts";

export type Step =
  | { readonly kind: "batch"; readonly requests: readonly Command[] }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "crash" };

// The realm starts with users 2 to 5 and channel 1; others may be created.
const userId = fc.constantFrom(2, 2, 2, 3, 3, 4, 4, 5, 6, 7);
const channelId = fc.constantFrom(1, 1, 1, 1, 2, 2, 3);
const topic = fc.constantFrom("lunch", "Lunch", "müsli", "mu\u0308sli", "🍎", "");
const channelName = fc.constantFrom("general", "Sales", "sales", "🍎 news", "ops");
const text = fc.constantFrom("hi", "**bold**", "@**all** 🍎", "@**Owner** #**general>lunch**", "x".repeat(300));
const queueId = fc.constantFrom("q1", "q2", "q3");
const deadline = fc.constantFrom(startedAt, Number.MAX_SAFE_INTEGER);
const settings = fc.record(
  {
    color_scheme: fc.constantFrom(1, 2, 3),
    enable_sounds: fc.boolean(),
    presence_enabled: fc.boolean(),
    email_address_visibility: fc.constantFrom(1, 3, 4),
    enable_drafts_synchronization: fc.boolean(),
  },
  { requiredKeys: [], noNullPrototype: true },
);
const principals = fc.option(fc.array(userId, { maxLength: 4 }));

// Mostly existing messages.
const messageId = fc.integer({ min: 1, max: 6 });
const edits = fc.record(
  {
    content: text,
    topic: fc.constantFrom("lunch", "LUNCH", "dinner", "✔ lunch", "✔ dinner", "🍎", ""),
    channelId,
    notifiesOldThread: fc.boolean(),
    notifiesNewThread: fc.boolean(),
  },
  { requiredKeys: [], noNullPrototype: true },
);
const propagateMode = fc.constantFrom("change_one" as const, "change_later" as const, "change_all" as const);

const durable: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(messageId, edits, propagateMode, userId)
      .map(([id, wish, mode, callerId]) => editCommand(id, { ...wish, propagateMode: mode }, callerId)),
  },
  fc.tuple(messageId, userId).map((args) => deleteCommand(...args)),
  fc
    .tuple(fc.constantFrom("add" as const, "remove" as const), messageId, fc.constantFrom("smile", "tada"), userId)
    .map((args) => reactCommand(...args)),
  { weight: 6, arbitrary: fc.tuple(topic, text, userId, channelId).map((args) => commands.post(...args)) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.uniqueArray(userId, { minLength: 1, maxLength: 3 }), text, userId)
      .map(([others, content, senderId]) =>
        commands.direct(
          [...new Set([...others, senderId])].sort((a, b) => a - b),
          content,
          senderId,
        ),
      ),
  },
  fc.integer({ min: 1, max: 5 }).map((index) => commands.createUser(`p${index}@example.com`)),
  fc
    .constantFrom(2, 5, 6, 6)
    .map((id) => command({ actor: "realm" }, "user.deactivate", { userId: id, comment: null }, 2)),
  fc.constantFrom(2, 5, 6, 6).map((id) => command({ actor: "realm" }, "user.reactivate", { userId: id }, 2)),
  fc
    .tuple(fc.constantFrom(3, 4, 6, 99), fc.constantFrom(null, 100, 200, 400, 600, 7), fc.constantFrom("Ann", "B", "*"))
    .map(([id, role, fullName]) => {
      const params = { target: { id }, role, fullName, profileData: [], newEmail: null };
      return command({ actor: "realm" }, "user.update", params, 2);
    }),
  fc
    .tuple(channelName, fc.array(userId, { maxLength: 4 }), userId)
    .map(([name, ids, callerId]) => commands.createChannel(name, ids, callerId)),
  fc
    .tuple(fc.array(channelName, { minLength: 1, maxLength: 3 }), principals, userId)
    .map((args) => commands.subscribe(...args)),
  fc.tuple(fc.array(channelName, { maxLength: 3 }), principals, userId).map((args) => commands.unsubscribe(...args)),
  // Nearly always allowed, so that users really join and leave.
  { weight: 2, arbitrary: userId.map((id) => commands.unsubscribe(["general"], null, id)) },
  { weight: 2, arbitrary: userId.map((id) => commands.subscribe(["general", "Sales"], null, id)) },
  userId.map((id) => commands.subscribe(["general", "Sales"], [3, 4, 5], id, true)),
  fc.tuple(fc.array(channelName, { maxLength: 2 }), fc.array(channelName, { maxLength: 2 }), userId).map((args) => {
    const [joined, removeNames, id] = args;
    const add = commands.subscribe(joined, null, id).params;
    return command({ actor: "realm" }, "subscriptions.update", { add, removeNames }, id);
  }),
  fc
    .tuple(channelId, fc.boolean(), fc.constantFrom("is_muted" as const, "push_notifications" as const), userId)
    .map(([channel, value, property, id]) => {
      const changes = [{ channelId: channel, property, value }];
      return command({ actor: "user", id }, "subscription-settings.change", { changes }, id);
    }),
  fc
    .tuple(channelId, fc.boolean())
    .map(([id, isDefault]) => command({ actor: "realm" }, "default-channels.set", { channelId: id, isDefault }, 2)),
  fc
    .tuple(channelId, topic, fc.constantFrom(0 as const, 1 as const, 3 as const), userId)
    .map(([channel, name, policy, id]) => {
      const params = { channel, topic: name, policy, unknown: refuse.invalidChannelId() };
      return command({ actor: "user", id }, "user-topics.set", params, id);
    }),
  fc.tuple(channelId, topic, channelId, topic, fc.boolean()).map(([channel, name, other, target, isMerge]) => {
    const places = { from: { channelId: channel, topic: name }, to: { channelId: other, topic: target } };
    const params = { ...places, isMerge, phase: "target" as const, afterUserId: 0 };
    return command({ actor: "realm" }, "user-topics.move", params, null);
  }),
  fc.tuple(channelId, topic, fc.nat(40)).map(([channel, name, messageId]) => {
    const place = { channelId: channel, topic: name };
    const params = { place, messageIds: [messageId], at: Number.MAX_SAFE_INTEGER, afterUserId: 0 };
    return command({ actor: "realm" }, "user-topics.end", params, null);
  }),
  fc.tuple(userId, queueId).map((args) => commands.register(...args)),
  fc
    .tuple(userId, queueId)
    .map(([id, queue]) => command({ actor: "user", id }, "queue.delete", { queueId: queue }, id)),
  fc
    .tuple(userId, fc.constantFrom("h1", "h2"))
    .map(([id, hash]) => command({ actor: "user", id }, "user.api-key.add", { hash }, id)),
  userId.map((id) => command({ actor: "user", id }, "user.api-key.regenerate", { hash: `only${id}` }, id)),
  fc
    .tuple(fc.integer({ min: 1, max: 3 }), fc.constantFrom(1, 3), userId)
    .map(([index, type, id]) => commands.createBot(index, type, id)),
  fc.tuple(userId, userId, userId).map(([botId, ownerId, id]) => commands.giveBot(botId, ownerId, id)),
  fc.tuple(userId, userId).map(([botId, id]) => command({ actor: "realm" }, "bot.deactivate", { botId }, id)),
  fc
    .tuple(userId, userId)
    .map(([botId, id]) =>
      command({ actor: "realm" }, "bot.regenerate-key", { botId, apiKeyHash: `again${botId}` }, id),
    ),
  fc.tuple(fc.constantFrom("p", "q", "r"), fc.constantFrom(1, 3)).map((args) => commands.createField(...args)),
  fc.constantFrom(1, 2, 3).map((fieldId) => command({ actor: "realm" }, "profile-field.delete", { fieldId }, 2)),
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom(1, 2, 3), userId).map((args) => commands.enter(...args)) },
  fc.tuple(settings, fc.constantFrom(null, "Owner", "Ann"), userId).map(([changed, fullName, id]) => {
    const change = { settings: changed, fullName, password: null };
    return command({ actor: "user", id }, "user.change-settings", change, id);
  }),
  fc
    .tuple(settings, userId)
    .map(([changed, id]) => command({ actor: "realm" }, "realm.change-settings-defaults", { settings: changed }, id)),
  fc.tuple(topic, deadline, channelId).map((args) => commands.deleteTopic(...args)),
  { weight: 6, arbitrary: groupCommands },
  { weight: 2, arbitrary: randomScheduled },
);

const throwing: fc.Arbitrary<Command> = fc.oneof(
  fc.constant(null).map(() => commands.throwing()),
  topic.map((name) => commands.halfWritten(name)),
);

const volatile: fc.Arbitrary<Command> = fc.oneof(
  fc.tuple(fc.constantFrom("start" as const, "stop" as const), topic, userId).map((args) => commands.typing(...args)),
  fc.tuple(userId, fc.constantFrom("active" as const, "idle" as const)).map((args) => commands.report(...args)),
);

/** Of every durable area, including commands that are rejected or throw. */
export const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 8, arbitrary: durable },
  { weight: 1, arbitrary: throwing },
  { weight: 2, arbitrary: volatile },
);

const batch: fc.Arbitrary<Step> = fc
  .array(anyCommand, { minLength: 1, maxLength: 8 })
  .map((requests) => ({ kind: "batch", requests }));
const pass: fc.Arbitrary<Step> = fc.constantFrom(10, 20_000, 300_000).map((ms) => ({ kind: "pass", ms }));

/** Without crashes unless requested. */
export function randomSteps(options: { crashes: boolean }): fc.Arbitrary<readonly Step[]> {
  const crash: fc.Arbitrary<Step> = fc.constant({ kind: "crash" });
  const step = fc.oneof(
    { weight: 8, arbitrary: batch },
    { weight: 1, arbitrary: pass },
    { weight: options.crashes ? 2 : 0, arbitrary: crash },
  );
  return fc.array(step, { minLength: 1, maxLength: 12 });
}
