/** Who holds the permissions of a channel, as PATCH /streams/{stream_id} changes it (spec 2.2, 4.4; behaviour 2.4, 3.3; D18). */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { channelGroupSettingNames, channelGroupSettings, type GroupSettingName } from "../../schemas/group-settings.ts";
import { channelGroupId, hasContentAccess, hasRealmPermission } from "../../src/domain/permissions.ts";
import { isAnnouncementOnly, postPolicy } from "../../src/domain/post-policy.ts";
import type { View } from "../../src/domain/view.ts";
import { type Answer, type Effect, effects } from "../effects.ts";
import { updateBody } from "./channel-events.ts";
import { postingNotice } from "./channel-notices.ts";
import type { Asked, Change } from "./channel-step.ts";
import { changeGroupValue, type ValueChange } from "./group-values.ts";

/** Who may say who deletes messages is the organization's to say. */
export function checkDeletePolicies(view: View, { caller, channel, params }: Asked): Change | Refusal {
  const isAsked = (["can_delete_any_message_group", "can_delete_own_message_group"] as const).some(
    (name) => params.groups[name] !== undefined,
  );
  return isAsked && !hasRealmPermission(view, caller, "can_set_delete_message_policy_group")
    ? refuse.insufficientPermission()
    : { channel };
}

/** All in the order of the table; each takes an id of its own for its anonymous group, if it needs one. */
export function changeChannelGroups(view: View, asked: Asked): Change | Refusal {
  const { caller, channel } = asked;
  const groups: Partial<Record<GroupSettingName, number>> = { ...channel.groups };
  const told: Answer[] = [];
  const rows: Effect[] = [];
  const notices: string[] = [];
  const first = view.counter("group") + 1;
  let nextId = first;
  for (const name of channelGroupSettingNames) {
    const change = changeOf(view, asked, name, nextId);
    if (change === null) continue;
    if ("kind" in change) return change;
    groups[name] = change.id;
    rows.push(...change.effects);
    if (change.takesId) nextId++;
    told.push(updateBody(channel, name, change.value), ...derived(view, asked, name, change));
    if (name === "can_send_message_group") {
      notices.push(postingNotice(view, caller, channelGroupId(view, channel, name), change.value));
    }
  }
  if (told.length === 0) return { channel };
  const counted = nextId === first ? [] : [effects.count("group", nextId - 1)];
  return { channel: { ...channel, groups }, told, notices, effects: [...rows, ...counted] };
}

/** null: nothing changes, and then nothing is asked of the caller either (behaviour 3.3). */
function changeOf(
  view: View,
  { caller, before, channel, params }: Asked,
  name: GroupSettingName,
  nextId: number,
): ValueChange | null | Refusal {
  const wanted = params.groups[name];
  if (wanted === undefined) return null;
  const setting = channelGroupSettings[name];
  const change = changeGroupValue(view, { name, setting }, channelGroupId(view, channel, name), wanted, nextId);
  if (change === null || ("kind" in change && change.code === "EXPECTATION_MISMATCH")) return change;
  // Asked before the new value is looked at.
  if (setting.needsContentAccess && !hasContentAccess(view, caller, before)) {
    return refuse.badRequest("Channel content access is required.");
  }
  return change;
}

/** Older clients know who may post by two properties of their own (behaviour 3.7). */
function derived(view: View, { channel }: Asked, name: GroupSettingName, change: ValueChange): Answer[] {
  if (name !== "can_send_message_group") return [];
  // An anonymous group has no number of its own, whichever was there before.
  const policy = postPolicy(view, typeof change.value === "number" ? change.value : 0);
  if (policy === postPolicy(view, channelGroupId(view, channel, name))) return [];
  return [
    updateBody(channel, "stream_post_policy", policy),
    updateBody(channel, "is_announcement_only", isAnnouncementOnly(policy)),
  ];
}
