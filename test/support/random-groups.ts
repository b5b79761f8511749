/**
 * Random commands about user groups: groups are created, hold permissions on each other, contain each other, are
 * deactivated and reactivated.
 */
import fc from "fast-check";
import { type Command, command } from "../../actors/protocol/decision.ts";
import type { GroupSettingValue } from "../../schemas/types.ts";

const to = { actor: "realm" } as const;
const userId = fc.constantFrom(2, 2, 2, 3, 4, 5, 6);
/** The first group is 9, and each group takes ids for the holders of its permissions, too. */
const groupId = fc.constantFrom(9, 9, 9, 10, 12, 12, 13, 14, 15, 5, 6, 99);
const userIds = fc.uniqueArray(userId, { maxLength: 3 });
const groupIds = fc.uniqueArray(groupId, { maxLength: 2 });
const value: fc.Arbitrary<GroupSettingValue> = fc.oneof(
  groupId,
  fc.record({ direct_members: userIds, direct_subgroups: groupIds }, { noNullPrototype: true }),
);

export const groupCommands: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom("crew", "Crew", "ops", "@x"), userIds, fc.option(value), userId)
      .map(([name, memberIds, joining, callerId]) => {
        const settings = joining === null ? {} : { can_join_group: joining };
        return command(to, "group.create", { name, description: "", memberIds, subgroupIds: [], settings }, callerId);
      }),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(groupId, userIds, userIds, groupIds, groupIds, userId)
      .map(([id, addIds, removeIds, addSubgroupIds, removeSubgroupIds, callerId]) =>
        command(
          to,
          "group.change-members",
          { groupId: id, addIds, removeIds, addSubgroupIds, removeSubgroupIds },
          callerId,
        ),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(groupId, groupIds, userId)
      .map(([id, addSubgroupIds, callerId]) =>
        command(
          to,
          "group.change-members",
          { groupId: id, addIds: [], removeIds: [], addSubgroupIds, removeSubgroupIds: [] },
          callerId,
        ),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(groupId, fc.option(fc.constantFrom("crew", "tools")), fc.option(fc.boolean()), fc.option(value), userId)
      .map(([id, name, isDeactivated, managing, callerId]) => {
        const settings = managing === null ? {} : { can_manage_group: { new: managing } };
        return command(to, "group.update", { groupId: id, name, description: null, isDeactivated, settings }, callerId);
      }),
  },
  fc.tuple(groupId, userId).map(([id, callerId]) => command(to, "group.deactivate", { groupId: id }, callerId)),
);
