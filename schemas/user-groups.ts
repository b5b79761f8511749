/**
 * User groups (spec 2.5, 4.6; public API: create-user-group, update-user-group, deactivate-user-group, members,
 * subgroups).
 */

import { Type } from "typebox";
import type { Answer, WaitingRequest } from "./answer.ts";
import { defineArea, defineCommands, defineTable, type Empty } from "./area.ts";
import { defineEndpoint, type ResultOf } from "./endpoint.ts";
import { type UserGroupSettingName, userGroupSettingNames } from "./group-settings.ts";
import type { GroupId } from "./ids.ts";
import { OtherId, OtherIds, OtherText, typedBy, UserId, UserIds } from "./person-marks.ts";
import { flag, GroupSettingChange, GroupSettingValue, groupParams, Id, Ids, nullable } from "./types.ts";

const limits = {
  group_name_code_points_max: 100,
  group_description_code_points_max: 1024,
  /** Named groups, including deactivated ones. */
  user_groups_per_realm_max: 10_000,
  /** Those that one person who is not an administrator created: twenty people are needed to reach the bound. */
  user_groups_per_person_max: 500,
  /** Direct members and subgroups of all named groups, once for each group; about 32 bytes of memory each. */
  group_memberships_per_realm_max: 2_000_000,
  /** Those of the groups that one person who is not an administrator created. */
  group_memberships_per_person_max: 100_000,
  /** If more users are added to or removed from a group at once, none of them gets a notice (behaviour 1.8). */
  group_notices_max: 100,
  group_members_per_command_max: 500,
  /** Ids in all cached scopes of an organization's groups: 20 MB. Groups nested in a row make it their square. */
  group_scope_ids_kept_max: 500_000,
  /** Users and groups that the permissions in one request name directly, once for each channel that it creates. */
  permission_names_per_request_max: 5000,
  /** Those of all permissions whose holders were named by one person who is not an administrator, or the person's bots. */
  permission_names_per_person_max: 100_000,
  /** Those of all permissions of an organization: 16 MB of memory. */
  permission_names_per_realm_max: 2_000_000,
} as const;

const shownSettings = Object.fromEntries(userGroupSettingNames.map((name) => [name, GroupSettingValue])) as Record<
  UserGroupSettingName,
  typeof GroupSettingValue
>;

/** The actor checks names, which have their own error messages (behaviour 3.6). */
const Name = Type.String();
const Description = Type.String({ maxLength: limits.group_description_code_points_max });
const GroupIds = Type.Array(Id, { maxItems: limits.user_groups_per_realm_max });

/** The user group object of all reads and events (behaviour 3.6). */
export const UserGroup = Type.Object(
  {
    id: OtherId,
    name: OtherText,
    description: typedBy(null),
    members: UserIds,
    direct_subgroup_ids: OtherIds,
    creator_id: nullable(UserId),
    date_created: nullable(Type.Integer()),
    is_system_group: Type.Boolean(),
    deactivated: Type.Boolean(),
    ...shownSettings,
  },
  { title: "UserGroup" },
);

export const createUserGroup = defineEndpoint({
  operationId: "create-user-group",
  method: "POST",
  path: "/user_groups/create",
  authentication: "user",
  effectiveness: "durable",
  role: "human-member",
  summary: "Creates a user group with members, subgroups and permissions; only for members of can_create_groups.",
  params: {
    ...groupParams(userGroupSettingNames, GroupSettingValue),
    description: Description,
    members: Ids,
    name: Name,
    subgroups: Type.Optional(GroupIds),
  },
  ok: { group_id: OtherId },
  errors: ["SYSTEM_GROUP_REQUIRED"],
});

export const updateUserGroup = defineEndpoint({
  operationId: "update-user-group",
  method: "PATCH",
  path: "/user_groups/{user_group_id}",
  authentication: "user",
  effectiveness: "durable",
  role: "human-member",
  summary: "Changes a group's name, description and permissions, and reactivates a deactivated group (spec 4.6).",
  params: {
    ...groupParams(userGroupSettingNames, GroupSettingChange),
    deactivated: Type.Optional(Type.Boolean()),
    description: Type.Optional(Description),
    name: Type.Optional(Name),
    user_group_id: Id,
  },
  ok: {},
  errors: ["EXPECTATION_MISMATCH", "SYSTEM_GROUP_REQUIRED"],
});

export const deactivateUserGroup = defineEndpoint({
  operationId: "deactivate-user-group",
  method: "POST",
  path: "/user_groups/{user_group_id}/deactivate",
  authentication: "user",
  effectiveness: "durable",
  role: "human-member",
  summary: "Deactivates a group that holds no permission and is not a subgroup of another group.",
  params: { user_group_id: Id },
  ok: {},
  errors: ["CANNOT_DEACTIVATE_GROUP_IN_USE"],
});

export const getUserGroups = defineEndpoint({
  operationId: "get-user-groups",
  method: "GET",
  path: "/user_groups",
  authentication: "user",
  effectiveness: "read",
  role: "human-member",
  summary: "Returns all user groups of the organization, system groups first.",
  params: { include_deactivated_groups: flag(false) },
  ok: { user_groups: Type.Array(UserGroup) },
  errors: [],
});

export const getUserGroupMembers = defineEndpoint({
  operationId: "get-user-group-members",
  method: "GET",
  path: "/user_groups/{user_group_id}/members",
  authentication: "user",
  effectiveness: "read",
  role: "human-member",
  summary: "Returns the ids of a group's active members, direct ones or including subgroups.",
  params: { direct_member_only: flag(false), user_group_id: Id },
  ok: { members: UserIds },
  errors: [],
});

export const getIsUserGroupMember = defineEndpoint({
  operationId: "get-is-user-group-member",
  method: "GET",
  path: "/user_groups/{user_group_id}/members/{user_id}",
  authentication: "user",
  effectiveness: "read",
  role: "human-member",
  summary: "Returns whether a user is in a group, directly or through subgroups.",
  params: { direct_member_only: flag(false), user_group_id: Id, user_id: Id },
  ok: { is_user_group_member: Type.Boolean() },
  errors: [],
});

export const updateUserGroupMembers = defineEndpoint({
  operationId: "update-user-group-members",
  method: "POST",
  path: "/user_groups/{user_group_id}/members",
  authentication: "user",
  effectiveness: "durable",
  role: "human-member",
  summary: "Adds and removes members and subgroups, atomically.",
  params: {
    add: Type.Optional(Ids),
    add_subgroups: Type.Optional(GroupIds),
    delete: Type.Optional(Ids),
    delete_subgroups: Type.Optional(GroupIds),
    user_group_id: Id,
  },
  ok: {},
  errors: [],
});

export const getUserGroupSubgroups = defineEndpoint({
  operationId: "get-user-group-subgroups",
  method: "GET",
  path: "/user_groups/{user_group_id}/subgroups",
  authentication: "user",
  effectiveness: "read",
  role: "human-member",
  summary: "Returns the ids of a group's subgroups, direct ones or at any depth.",
  params: { direct_subgroup_only: flag(false), user_group_id: Id },
  ok: { subgroups: OtherIds },
  errors: [],
});

export const updateUserGroupSubgroups = defineEndpoint({
  operationId: "update-user-group-subgroups",
  method: "POST",
  path: "/user_groups/{user_group_id}/subgroups",
  authentication: "user",
  effectiveness: "durable",
  role: "human-member",
  summary: "Adds and removes subgroups, atomically.",
  params: { add: Type.Optional(GroupIds), delete: Type.Optional(GroupIds), user_group_id: Id },
  ok: {},
  errors: [],
});

/** A named group, or (name null) the anonymous group behind a group-setting value (spec 2.2, 2.5). */
export interface GroupRecord {
  readonly id: GroupId;
  readonly name: string | null;
  readonly description: string;
  readonly isSystem: boolean;
  readonly isActive: boolean;
  /** In an anonymous group, the person who named its members and subgroups; null: no person. */
  readonly creatorId: UserId | null;
  readonly createdAt: number | null;
  /** Direct members of an anonymous group, ascending. Members of named groups are rows of `groupMembers`. */
  readonly memberIds: readonly UserId[];
  /** Ascending. */
  readonly subgroupIds: readonly GroupId[];
  /** Group ids by setting name; absent: `role:nobody`. */
  readonly settings: Readonly<Partial<Record<UserGroupSettingName, number>>>;
}

export interface GroupCreate {
  readonly name: string;
  readonly description: string;
  readonly memberIds: readonly UserId[];
  readonly subgroupIds: readonly GroupId[];
  /** Settings that are absent get the default from the settings table. */
  readonly settings: Readonly<Partial<Record<UserGroupSettingName, GroupSettingValue>>>;
}

/** null: not passed, keeps its value. */
export interface GroupUpdate {
  readonly groupId: GroupId;
  readonly name: string | null;
  readonly description: string | null;
  /** false reactivates a deactivated group; true has no effect (spec 4.6). */
  readonly isDeactivated: boolean | null;
  readonly settings: Readonly<Partial<Record<UserGroupSettingName, GroupSettingChange>>>;
}

/** The changes are applied in this order; each is checked against the result of the previous ones. */
export interface GroupMembersChange {
  readonly groupId: GroupId;
  readonly addIds: readonly number[];
  readonly removeIds: readonly number[];
  readonly addSubgroupIds: readonly number[];
  readonly removeSubgroupIds: readonly number[];
}

export interface GroupMembersStep {
  readonly op: "add" | "remove";
  readonly userIds: readonly UserId[];
}

/** The remaining part of a large membership change; `waiting` names the request to answer when it is complete. */
export interface GroupMembersRest {
  readonly groupId: GroupId;
  readonly steps: readonly GroupMembersStep[];
  readonly waiting: (WaitingRequest & { readonly answer: Answer }) | null;
}

/** Parameters of its commands, by type. */
export interface UserGroupsCommands {
  "group.deactivate": { readonly groupId: GroupId };
  "group.create": GroupCreate;
  "group.update": GroupUpdate;
  "group.change-members": GroupMembersChange;
  "group-members.continue": GroupMembersRest;
}

/** Their replies, by type; other commands reply without fields. */
export interface UserGroupsReplies {
  readonly "group.create": ResultOf<typeof createUserGroup>;
}

export const userGroupsArea = defineArea({
  endpoints: [
    createUserGroup,
    updateUserGroup,
    deactivateUserGroup,
    getUserGroups,
    getUserGroupMembers,
    getIsUserGroupMember,
    updateUserGroupMembers,
    getUserGroupSubgroups,
    updateUserGroupSubgroups,
  ],
  commands: defineCommands<UserGroupsCommands, UserGroupsReplies>(),
  state: { realm_user_groups: { realm_user_groups: Type.Array(UserGroup) } },
  tables: {
    groups: defineTable<GroupId, GroupRecord>({
      fields: [
        "id",
        "name",
        "description",
        "isSystem",
        "isActive",
        "creatorId",
        "createdAt",
        "memberIds",
        "subgroupIds",
        "settings",
      ],
      dates: ["createdAt"],
    }),
    /** Direct members of named groups other than system groups. */
    groupMembers: defineTable<readonly [groupId: GroupId, userId: UserId], Empty>({
      fields: [],
    }),
  },
  counters: ["group"],
  limits,
});
