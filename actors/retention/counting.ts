/** Counts the messages that a round would remove, in the same slices as the round itself, and changes nothing. */

import { channelRetentionDays, realmRetentionDays } from "../../domain/retention.ts";
import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import type { Counting, RetentionContext, Round } from "./context.ts";
import { oldDirects, oldInChannel } from "./old-messages.ts";

export type CountedRound = Round & { readonly counting: Counting };

export interface Counted {
  readonly round: CountedRound;
  readonly isDone: boolean;
}

export function countSlice(context: RetentionContext, round: CountedRound, view: View): Counted {
  return round.areDirectsDone ? countChannels(round, view) : countDirects(context, round, view);
}

function countDirects(context: RetentionContext, round: CountedRound, view: View): Counted {
  const days = realmRetentionDays(view);
  if (days === null) return { round: { ...round, areDirectsDone: true }, isDone: false };
  const { counting } = round;
  const found = oldDirects(view, days, Math.max(context.directFloorId, counting.directId));
  const messages = counting.messages + found.messages.length;
  const after = { ...counting, messages, directId: found.lastId };
  return { round: { ...round, areDirectsDone: !found.isUnfinished, counting: after }, isDone: false };
}

function countChannels(round: CountedRound, view: View): Counted {
  const lastId = view.counter("channel");
  let { channelFloorId } = round;
  let { messages, channelMessageId } = round.counting;
  let left: number = limits.retention_messages_per_command;
  while (left > 0 && channelFloorId < lastId) {
    const channel = view.channels.get(channelFloorId + 1);
    const days = channel === undefined ? null : channelRetentionDays(view, channel);
    left--;
    if (channel !== undefined && days !== null) {
      const found = oldInChannel(view, { channel, days, afterId: channelMessageId, limit: left + 1 });
      messages += found.messages.length;
      left -= found.messages.length;
      channelMessageId = found.lastId;
      if (found.isUnfinished) break;
    }
    channelMessageId = 0;
    channelFloorId++;
  }
  const counting = { ...round.counting, messages, channelMessageId };
  return { round: { ...round, channelFloorId, counting }, isDone: channelFloorId >= lastId };
}
