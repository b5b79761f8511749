/** Changes of a channel's permission groups by PATCH /streams/{stream_id} (spec 2.2, 4.4; behaviour 2.4, 3.3; D18). */

import { channelGroupId, hasContentAccess, hasRealmPermission } from "../../domain/permissions.ts";
import { isAnnouncementOnly, postPolicy } from "../../domain/post-policy.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import { channelGroupSettingNames, channelGroupSettings, type GroupSettingName } from "../../schemas/group-settings.ts";
import { type Effect, effects } from "../protocol/decision.ts";
import { type StreamUpdate, updateBody } from "../rules/channel-events.ts";
import { postingNotice } from "./channel-notices.ts";
import type { Change, ChannelRequest } from "./channel-step.ts";
import { changeGroupValue, checkNamedChanges, type ValueChange } from "./group-values.ts";

/** The organization decides who may change the message deletion permissions. */
export function checkDeletePolicies(view: View, { caller, channel, params }: ChannelRequest): Change | Refusal {
  const isRequested = (["can_delete_any_message_group", "can_delete_own_message_group"] as const).some(
    (name) => params.groups[name] !== undefined,
  );
  return isRequested && !hasRealmPermission(view, caller, "can_set_delete_message_policy_group")
    ? refuse.insufficientPermission()
    : { channel };
}

/** Applies changes in the order of the table. Each anonymous group that is needed gets its own id. */
export function changeChannelGroups(view: View, request: ChannelRequest): Change | Refusal {
  const { caller, channel } = request;
  const crowded = checkNamedChanges(view, caller, request.params.groups, (name) => channelGroupId(view, channel, name));
  if (crowded !== null) return crowded;
  const groups: Partial<Record<GroupSettingName, number>> = { ...channel.groups };
  const streamEvents: StreamUpdate[] = [];
  const rows: Effect[] = [];
  const notices: string[] = [];
  const first = view.counter("group") + 1;
  let nextId = first;
  for (const name of channelGroupSettingNames) {
    const change = changeOf(view, request, name, nextId);
    if (change === null) continue;
    if (isRefusal(change)) return change;
    groups[name] = change.id;
    rows.push(...change.effects);
    if (change.takesId) nextId++;
    streamEvents.push(updateBody(channel, name, change.value), ...derived(view, request, name, change));
    if (name === "can_send_message_group") {
      notices.push(postingNotice(view, caller, channelGroupId(view, channel, name), change.value));
    }
  }
  if (streamEvents.length === 0) return { channel };
  const counted = nextId === first ? [] : [effects.setCounter("group", nextId - 1)];
  return { channel: { ...channel, groups }, streamEvents, notices, effects: [...rows, ...counted] };
}

/** null: nothing changes, so no permission is required (behaviour 3.3). */
function changeOf(
  view: View,
  { caller, before, channel, params }: ChannelRequest,
  name: GroupSettingName,
  nextId: number,
): ValueChange | null | Refusal {
  const wanted = params.groups[name];
  if (wanted === undefined) return null;
  const setting = channelGroupSettings[name];
  const change = changeGroupValue(view, { name, setting }, channelGroupId(view, channel, name), wanted, {
    id: nextId,
    caller,
  });
  if (change === null || (isRefusal(change) && change.code === "EXPECTATION_MISMATCH")) return change;
  // Checked before the new value is validated.
  if (setting.needsContentAccess && !hasContentAccess(view, caller, before)) {
    return refuse.badRequest("Channel content access is required.");
  }
  return change;
}

/** Older clients read the posting permission from two derived properties (behaviour 3.7). */
function derived(view: View, { channel }: ChannelRequest, name: GroupSettingName, change: ValueChange): StreamUpdate[] {
  if (name !== "can_send_message_group") return [];
  // All anonymous groups map to the same policy, so 0 represents any of them.
  const policy = postPolicy(view, typeof change.value === "number" ? change.value : 0);
  if (policy === postPolicy(view, channelGroupId(view, channel, name))) return [];
  return [
    updateBody(channel, "stream_post_policy", policy),
    updateBody(channel, "is_announcement_only", isAnnouncementOnly(policy)),
  ];
}
