/**
 * Permissions as numbers, for older clients (OpenAPI register-queue, deprecated). If no number denotes the exact
 * holders, the next wider group with a number is used.
 */

import { realmGroupId } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import { type RealmGroupSettingName, type SystemGroupName, systemGroupNames } from "../../schemas/group-settings.ts";

type Numbers = Readonly<Partial<Record<SystemGroupName, number>>>;

const creation: Numbers = {
  "role:administrators": 2,
  "role:moderators": 4,
  "role:fullmembers": 3,
  "role:members": 1,
};

const policies = [
  ["realm_create_public_stream_policy", "can_create_public_channel_group", creation],
  ["realm_create_private_stream_policy", "can_create_private_channel_group", creation],
  [
    "realm_create_web_public_stream_policy",
    "can_create_web_public_channel_group",
    { "role:nobody": 6, "role:owners": 7, "role:administrators": 2, "role:moderators": 4 },
  ],
  [
    "realm_wildcard_mention_policy",
    "can_mention_many_users_group",
    {
      "role:nobody": 6,
      "role:administrators": 5,
      "role:moderators": 7,
      "role:fullmembers": 3,
      "role:members": 2,
      "role:everyone": 1,
    },
  ],
] as const satisfies readonly (readonly [field: string, setting: RealmGroupSettingName, numbers: Numbers])[];

type Policies = Readonly<Record<(typeof policies)[number][0], number>>;

export function olderPolicies(view: View): Policies {
  return Object.fromEntries(
    policies.map(([field, setting, numbers]) => [field, policyOf(view, realmGroupId(view, setting), numbers)]),
  ) as Policies;
}

/** A group that is not a system group may contain anybody, so the widest number is used. */
function policyOf(view: View, groupId: number, numbers: Numbers): number {
  const at = systemGroupNames.indexOf(view.groups.get(groupId)?.name as SystemGroupName);
  const wider = at < 0 ? undefined : systemGroupNames.slice(at).find((name) => numbers[name] !== undefined);
  const widest = systemGroupNames.findLast((name) => numbers[name] !== undefined);
  return numbers[wider ?? widest ?? "role:nobody"] ?? 1;
}
