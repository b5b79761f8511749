/** Requests about messages, read state, and what is sent later. */
import type { MessageMove } from "../../actors/commands/messages.ts";
import { command } from "../../actors/commands.ts";
import { deleteCommand, editCommand, reactCommand } from "../support/message-changes.ts";
import { commands } from "../support/runtime.ts";
import { scheduledCommands } from "../support/scheduled-commands.ts";
import type { Draw, World } from "./world.ts";

const self = (id: number) => ({ actor: "user", id }) as const;

function participants(world: World, senderId: number): number[] {
  return [...new Set([senderId, ...world.users(3)])].sort((a, b) => a - b);
}

function flagUpdate(world: World, messageIds: readonly number[]) {
  return {
    op: world.random.pick(["add", "remove"] as const),
    flag: world.random.pick(["read", "starred", "starred", "collapsed"] as const),
    messageIds,
    mustReachAll: world.flip(),
    answer: {},
    countsUpdated: world.flip(),
  };
}

function destination(world: World, senderId: number): number | number[] {
  return world.flip() ? world.channel() : participants(world, senderId);
}

/** In a topic, or in the edit of a message that one wrote. */
function typing(world: World, op: "start" | "stop") {
  const written = world.random.chance(0.3) ? world.row("messages") : undefined;
  if (written === undefined) return commands.typing(op, world.topic(), world.user());
  const { id: messageId, senderId } = written.row;
  const to = { actor: "typing", conversation: `edit:${messageId}` } as const;
  return command(to, `typing.${op}`, { target: { kind: "edit", messageId } }, senderId);
}

function formerMove(conversationId: number): MessageMove {
  return {
    moveId: 0,
    movedById: 2,
    at: 0,
    messageId: 1,
    propagateMode: "change_all",
    conversationId,
    from: { channelId: 1, topic: "lunch" },
    to: { channelId: 1, topic: "plans" },
    afterId: 0,
    upToId: 0,
    isLimitedToSight: false,
    isWhole: true,
    target: "free",
    notifiesOldThread: false,
    notifiesNewThread: false,
    count: 0,
    waiting: null,
  };
}

export const messageDraws = {
  "message.post": (world) => {
    const senderId = world.user();
    return world.random.chance(0.75)
      ? commands.post(world.topic(), world.token(), senderId, world.channel())
      : commands.direct(participants(world, senderId), world.token(), senderId);
  },
  "message.edit": (world) => {
    const moves = world.random.chance(0.4);
    return editCommand(
      world.message(),
      {
        ...(world.random.chance(0.6) ? { content: `e${world.token()}` } : {}),
        ...(moves ? { topic: world.topic() } : {}),
        ...(moves && world.random.chance(0.3) ? { channelId: world.channel() } : {}),
        propagateMode: world.random.pick(["change_one", "change_later", "change_all"]),
        notifiesOldThread: world.flip(),
        notifiesNewThread: world.flip(),
      },
      world.user(),
    );
  },
  "message.delete": (world) => deleteCommand(world.message(), world.user()),
  "message.report": (world) =>
    command(
      { actor: "message", id: world.message() },
      "message.report",
      { reportType: world.random.pick(["spam", "other"]), description: world.random.pick(["", "why"]) },
      world.user(),
    ),
  "reaction.add": (world) => reactCommand("add", world.message(), world.random.pick(["smile", "tada"]), world.user()),
  "reaction.remove": (world) => {
    const made = world.random.chance(0.8) ? world.row("reactions") : undefined;
    if (made === undefined) return reactCommand("remove", world.message(), "tada", world.user());
    const [messageId, userId] = made.key;
    return reactCommand("remove", messageId, made.row.emojiName, userId);
  },
  "submessage.add": (world) => {
    const id = world.message();
    const sender = world.replica.get("messages", id)?.senderId;
    const asked = { msgType: "widget", content: world.random.pick(['{"type":"vote","key":"a,1","vote":1}', "[]"]) };
    const callerId = sender === undefined || world.random.chance(0.3) ? world.user() : sender;
    return command({ actor: "message", id }, "submessage.add", asked, callerId);
  },
  "welcome.test": (world) => {
    const id = world.administrator();
    return command({ actor: "direct", userIds: [1, id] }, "welcome.test", { text: world.token() }, id);
  },
  "messages.take-in": null,
  /** Of a move that is over, as after a crash; one that is under way has many messages. */
  "topic.tell-rename": (world) => {
    const id = world.id("conversations");
    return command({ actor: "conversation", id }, "topic.tell-rename", formerMove(id), null);
  },
  "topic.move-ended": null,
  "topic.recount": (world) =>
    command({ actor: "conversation", id: world.id("conversations") }, "topic.recount", {}, null),
  "topic-deletion.request": (world) =>
    commands.deleteTopic(world.topic(), world.random.pick([0, Number.MAX_SAFE_INTEGER]), world.channel()),
  "topic-deletion.continue": (world) =>
    command({ actor: "topic-deletion", channelId: 1, topic: world.topic() }, "topic-deletion.continue", {}, null),
  "topic-deletion.abandon": (world) =>
    command({ actor: "topic-deletion", channelId: 1, topic: world.topic() }, "topic-deletion.abandon", {}, null),
  "retention.look": () => command({ actor: "retention" }, "retention.look", {}, null),
  "retention.due": (world) => command({ actor: "retention" }, "retention.due", { dueAt: world.later() }, null),
  "retention.sweep": () => command({ actor: "retention" }, "retention.sweep", {}, null),
  "retention.confirm": () => command({ actor: "retention" }, "retention.confirm", {}, null),
  "retention.abandon": () => command({ actor: "retention" }, "retention.abandon", {}, null),
  "message-flags.update": (world) => {
    const id = world.user();
    const update = flagUpdate(world, [...new Set([world.message(), world.message()])]);
    return command(self(id), "message-flags.update", update, id);
  },
  "message-flags.continue": (world) => {
    const id = world.user();
    const progress = { waiting: null, updated: 0, ignoredChannelIds: [] };
    return command(self(id), "message-flags.continue", { ...flagUpdate(world, [world.message()]), progress }, id);
  },
  "read-state.mark-all": (world) => {
    const id = world.user();
    return command(self(id), "read-state.mark-all", {}, id);
  },
  "read-state.mark-channel": (world) => {
    const id = world.user();
    return command(self(id), "read-state.mark-channel", { channelId: world.channel() }, id);
  },
  "read-state.mark-topic": (world) => {
    const id = world.user();
    const place = { channelId: world.channel(), topic: world.topic() };
    return command(self(id), "read-state.mark-topic", { ...place, mustHaveReceived: world.flip() }, id);
  },
  "read-state.announce": null,
  /** Left by an older server, of messages that have not gone anywhere. */
  "read-state.carry": (world) => {
    const id = world.id("conversations");
    const place = { id, channelId: world.replica.get("conversations", id)?.channelId ?? 0 };
    const messages = [{ id: world.message(), senderId: world.user(), traits: 0 }];
    const carried = { messages, from: place, to: place, isNew: false, upToId: 0, afterUserId: 0 };
    return command({ actor: "realm" }, "read-state.carry", carried, null);
  },
  "read-state.sweep": null,
  "scheduled-messages.add": (world) => {
    const id = world.user();
    return scheduledCommands.schedule(world.token(), world.later(), destination(world, id), id);
  },
  "scheduled-messages.update": (world) => {
    const { userId, id } = world.own("scheduledMessages");
    return scheduledCommands.edit(id, world.maybe(world.token()), world.maybe(world.later()), userId);
  },
  "scheduled-messages.remove": (world) => {
    const { userId, id } = world.own("scheduledMessages");
    return scheduledCommands.unschedule(id, userId);
  },
  "scheduled-messages.due": null,
  "scheduled-messages.give-up": (world) => {
    const id = world.user();
    return command(self(id), "scheduled-messages.give-up", { id: world.id("scheduledMessages"), timer: 0 }, null);
  },
  "reminders.add": (world) => scheduledCommands.remind(world.message(), world.name(), world.later(), world.user()),
  "reminders.remove": (world) => {
    const { userId, id } = world.own("reminders");
    return scheduledCommands.forget(id, userId);
  },
  "reminders.due": null,
  "reminders.give-up": () => command(self(2), "reminders.give-up", { id: 99_999 }, null),
  "missed-messages.gather": (world) =>
    command(
      { actor: "realm" },
      "missed-messages.gather",
      { messageId: world.message(), afterUserId: world.user() },
      null,
    ),
  "missed-messages.due": null,
  "typing.start": (world) => typing(world, "start"),
  "typing.stop": (world) => typing(world, "stop"),
  "typing.expire": null,
} as const satisfies Readonly<Record<string, Draw | null>>;
