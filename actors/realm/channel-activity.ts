/**
 * Channels in which nobody has written for half a year (behaviour 2.3): the message that wakes one up says so itself, but nothing
 * happens when one falls asleep, so they are looked through once a day, in slices.
 */
import { limits } from "../../schemas/limits.ts";
import type { CounterName } from "../../schemas/records.ts";
import { isOfAge, isRecentlyActive } from "../../src/domain/channels.ts";
import { supposing } from "../../src/domain/supposed-view.ts";
import type { View } from "../../src/domain/view.ts";
import { type Command, command } from "../commands.ts";
import { done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { updateBody, watchers } from "./channel-events.ts";

const counter: CounterName = "inactivityTold";

/** Where no channel is as old as that, none can be inactive. */
export function isLookDue(view: View): boolean {
  if (view.now - view.counter(counter) < limits.channel_activity_told_ms) return false;
  for (const channel of view.channels.all()) if (isOfAge(view, channel)) return true;
  return false;
}

export function tellInactive(_context: unknown, asked: Command<"channels.tell-inactive">, view: View): Outcome {
  const { since, upTo, afterId } = asked.params;
  const newest = view.counter("channel");
  const last = Math.min(afterId + limits.channel_activity_per_command_max, newest);
  const told: Effect[] = [];
  for (let id = afterId + 1; id <= last; id++) {
    const channel = view.channels.get(id);
    if (channel === undefined || isRecentlyActive(supposing(view, { now: upTo }), channel)) continue;
    if (!isRecentlyActive(supposing(view, { now: since }), channel)) continue;
    told.push(effects.emit("stream", updateBody(channel, "is_recently_active", false), watchers(channel, [])));
  }
  const onward =
    last < newest
      ? effects.tell(command(asked.to, "channels.tell-inactive", { since, upTo, afterId: last }, null))
      : effects.count(counter, upTo);
  return done({}, [...told, onward]);
}
