/**
 * Sees once a day that it is told which channels have become inactive. Until when it was told is on disk, so that a server that
 * was away tells it late, but once.
 */
import { command } from "../../actors/commands.ts";
import { isLookDue } from "../../actors/realm/channel-activity.ts";
import { limits } from "../../schemas/limits.ts";
import type { Dispatcher } from "./dispatcher.ts";

export function watchActivity(dispatcher: Dispatcher): void {
  const { view, wheel } = dispatcher;
  const look = () => {
    wheel.set("activity", limits.channel_activity_look_ms, look);
    if (!isLookDue(view)) return;
    const params = { since: view.counter("inactivityTold"), upTo: view.now, afterId: 0 };
    dispatcher.tell(command({ actor: "realm" }, "channels.tell-inactive", params, null));
  };
  look();
}
