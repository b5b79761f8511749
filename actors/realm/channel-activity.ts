/**
 * Announces channels that became inactive: no message for half a year (behaviour 2.3). A new message announces that its
 * channel is active again, but no command runs when a channel becomes inactive. All channels are therefore checked once
 * a day, in slices.
 */

import { isOfAge, isRecentlyActive } from "../../domain/channels.ts";
import { withOverrides } from "../../domain/overlay-view.ts";
import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import type { CounterName } from "../../schemas/records.ts";
import {
  type Command,
  command,
  done,
  type Effect,
  effects,
  forServer,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";
import { updateBody, watchers } from "../rules/channel-events.ts";

const counter: CounterName = "inactivityTold";

/** Due once a day, and only if some channel is old enough to be inactive. */
export function isCheckDue(view: View): boolean {
  if (view.now - view.counter(counter) < limits.channel_activity_announce_ms) return false;
  for (const channel of view.channels.all()) if (isOfAge(view, channel)) return true;
  return false;
}

export function announceInactive(
  params: Params<"channels.announce-inactive">,
  view: View,
  request: Command<"channels.announce-inactive">,
): Outcome {
  const { since, upTo, afterId } = params;
  const newest = view.counter("channel");
  const last = Math.min(afterId + limits.channel_activity_per_command_max, newest);
  const announcements: Effect[] = [];
  for (let id = afterId + 1; id <= last; id++) {
    const channel = view.channels.get(id);
    if (channel === undefined || isRecentlyActive(withOverrides(view, { now: upTo }), channel)) continue;
    if (!isRecentlyActive(withOverrides(view, { now: since }), channel)) continue;
    announcements.push(effects.emit("stream", updateBody(channel, "is_recently_active", false), watchers(channel, [])));
  }
  const onward =
    last < newest
      ? effects.send(command(request.to, "channels.announce-inactive", { since, upTo, afterId: last }, null))
      : effects.setCounter(counter, upTo);
  return done({}, [...announcements, onward]);
}

export const channelActivityDecisions = {
  "channels.announce-inactive": forServer(announceInactive),
} as const;
