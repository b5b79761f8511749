/**
 * Commands that may run between the slices of a longer command. Usually none may (M7). Users' policies for a topic are
 * found by its name, so while thousands of them follow a topic to its new name, everything that depends on the policies
 * of either name waits, and posts elsewhere do not. While one request creates many channels, posts to others do not
 * wait either.
 */

import { fold } from "../schemas/fold.ts";
import type { ChannelId } from "../schemas/ids.ts";
import { actorKinds } from "./kinds.ts";
import type { Command, CommandType } from "./protocol/commands.ts";

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
export function mayRunBetween(asked: Command, continued: Command): boolean {
  const busy = busyTopics(continued);
  if (busy === null) return false;
  const { to, type } = asked;
  if (actorKinds[to.actor].isVolatile || independentTypes.has(type)) return true;
  if (type !== "message.post") return false;
  return to.actor === "direct" || (to.actor === "topic" && !busy.some((place) => isSame(place, to)));
}

/** The topics whose policies are changing; null: the command waits for nobody. */
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
