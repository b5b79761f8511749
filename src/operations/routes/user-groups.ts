/** User groups (spec 4.6; public API: create-user-group, get-user-groups, members, subgroups, deactivate-user-group). */
import { type CommandParams, type CommandType, command } from "../../../actors/protocol/decision.ts";
import { type NamedGroup, namedGroup } from "../../../domain/group-permissions.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { type UserGroupSettingName, userGroupSettingNames } from "../../../schemas/group-settings.ts";
import {
  createUserGroup,
  deactivateUserGroup,
  getIsUserGroupMember,
  getUserGroupMembers,
  getUserGroupSubgroups,
  getUserGroups,
  updateUserGroup,
  updateUserGroupMembers,
  updateUserGroupSubgroups,
} from "../../../schemas/user-groups.ts";
import { isGroupMember, memberIds, subgroupIds, userGroups } from "../../queries/user-groups.ts";
import { ok } from "../../runtime/results.ts";
import { bind, type Call, requireCaller } from "../calls.ts";

export function userGroupRoutes() {
  return [
    bind(createUserGroup, (call) => {
      const { name, description, members, subgroups = [] } = call.params;
      const settings = settingsIn(call.params);
      return askRealm(call, "group.create", {
        name,
        description,
        memberIds: members,
        subgroupIds: subgroups,
        settings: settings as CommandParams["group.create"]["settings"], // checked against the declaration
      });
    }),

    bind(updateUserGroup, (call) => {
      const { user_group_id: groupId, name = null, description = null, deactivated = null } = call.params;
      const settings = settingsIn(call.params);
      const isEmpty = [name, description, deactivated].every((value) => value === null);
      if (isEmpty && Object.keys(settings).length === 0) return refuse.badRequest("No new data supplied");
      return askRealm(call, "group.update", {
        groupId,
        name,
        description,
        isDeactivated: deactivated,
        settings: settings as CommandParams["group.update"]["settings"], // checked against the declaration
      });
    }),

    bind(deactivateUserGroup, (call) => askRealm(call, "group.deactivate", { groupId: call.params.user_group_id })),

    bind(updateUserGroupMembers, (call) => {
      const change = {
        groupId: call.params.user_group_id,
        addIds: call.params.add ?? [],
        removeIds: call.params.delete ?? [],
        addSubgroupIds: call.params.add_subgroups ?? [],
        removeSubgroupIds: call.params.delete_subgroups ?? [],
      };
      return askForMembers(call, change, '"add", "delete", "add_subgroups" or "delete_subgroups"');
    }),

    bind(updateUserGroupSubgroups, (call) => {
      const change = {
        groupId: call.params.user_group_id,
        addIds: [],
        removeIds: [],
        addSubgroupIds: call.params.add ?? [],
        removeSubgroupIds: call.params.delete ?? [],
      };
      return askForMembers(call, change, '"add" or "delete"');
    }),

    bind(getUserGroups, (call) =>
      ok({ user_groups: userGroups(call.realm.view, call.params.include_deactivated_groups) }),
    ),

    bind(getUserGroupMembers, (call) =>
      withGroup(call, (group) => ok({ members: memberIds(call.realm.view, group, call.params.direct_member_only) })),
    ),

    bind(getIsUserGroupMember, (call) =>
      withGroup(call, (group) => {
        const { view } = call.realm;
        const user = view.users.get(call.params.user_id);
        if (user === undefined) return refuse.noSuchUser();
        return ok({ is_user_group_member: isGroupMember(view, group, user, call.params.direct_member_only) });
      }),
    ),

    bind(getUserGroupSubgroups, (call) =>
      withGroup(call, (group) =>
        ok({ subgroups: subgroupIds(call.realm.view, group, call.params.direct_subgroup_only) }),
      ),
    ),
  ];
}

/** The permission settings in the request. */
function settingsIn<T>(params: Readonly<Partial<Record<UserGroupSettingName, T>>>): Partial<Record<string, T>> {
  return Object.fromEntries(
    userGroupSettingNames.flatMap((name) => (params[name] === undefined ? [] : [[name, params[name]]])),
  );
}

function askForMembers(call: Call, change: CommandParams["group.change-members"], names: string) {
  const { addIds, removeIds, addSubgroupIds, removeSubgroupIds } = change;
  const isNothing = [addIds, removeIds, addSubgroupIds, removeSubgroupIds].every((ids) => ids.length === 0);
  if (isNothing) return refuse.badRequest(`Nothing to do. Specify at least one of ${names}.`);
  return askRealm(call, "group.change-members", change);
}

function withGroup<T>(call: Call<{ readonly user_group_id: number }>, give: (group: NamedGroup) => T): T | Refusal {
  const group = namedGroup(call.realm.view, call.params.user_group_id);
  return group === undefined ? refuse.invalidUserGroup() : give(group);
}

function askRealm<T extends CommandType>(call: Call, type: T, params: CommandParams[T]) {
  return call.realm.dispatcher.ask(
    command({ actor: "realm" }, type, params, requireCaller(call).id),
    call.idempotencyKey,
  );
}
