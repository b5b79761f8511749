/** User groups (spec 2.5, 4.6; public API: create-user-group, update-user-group, deactivate-user-group, members, subgroups). */
import { Type } from "typebox";
import { defineEndpoint } from "./endpoint.ts";
import { type UserGroupSettingName, userGroupSettingNames } from "./group-settings.ts";
import { limits } from "./limits.ts";
import { flag, GroupSettingChange, GroupSettingValue, groupParams, Id, Ids, nullable } from "./types.ts";

const shownSettings = Object.fromEntries(userGroupSettingNames.map((name) => [name, GroupSettingValue])) as Record<
  UserGroupSettingName,
  typeof GroupSettingValue
>;

/** What a name may be is the actor's to say: its rules have texts of their own (behaviour 3.6). */
const Name = Type.String();
const Description = Type.String({ maxLength: limits.group_description_code_points_max });
const GroupIds = Type.Array(Id, { maxItems: limits.user_groups_per_realm_max });

/** The record that every read and event gives (behaviour 3.6). */
export const UserGroup = Type.Object({
  id: Id,
  name: Type.String(),
  description: Type.String(),
  members: Type.Array(Id),
  direct_subgroup_ids: Type.Array(Id),
  creator_id: nullable(Id),
  date_created: nullable(Type.Integer()),
  is_system_group: Type.Boolean(),
  deactivated: Type.Boolean(),
  ...shownSettings,
});

export const createUserGroup = defineEndpoint({
  operationId: "create-user-group",
  method: "POST",
  path: "/user_groups/create",
  authentication: "user",
  effectiveness: "durable",
  role: "human-member",
  summary: "Creates a user group with members, subgroups and permissions; whoever is in can_create_groups.",
  params: {
    ...groupParams(userGroupSettingNames, GroupSettingValue),
    description: Description,
    members: Ids,
    name: Name,
    subgroups: Type.Optional(GroupIds),
  },
  ok: { group_id: Id },
  errors: ["SYSTEM_GROUP_REQUIRED"],
});

export const updateUserGroup = defineEndpoint({
  operationId: "update-user-group",
  method: "PATCH",
  path: "/user_groups/{user_group_id}",
  authentication: "user",
  effectiveness: "durable",
  role: "human-member",
  summary: "Changes a group's name, description and permissions, and makes a deactivated one active again (spec 4.6).",
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
  summary: "Deactivates a group that holds no permission and is within no other group.",
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
  summary: "All user groups of the organization, system groups first.",
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
  summary: "Ids of a group's active members, directly or through subgroups.",
  params: { direct_member_only: flag(false), user_group_id: Id },
  ok: { members: Type.Array(Id) },
  errors: [],
});

export const getIsUserGroupMember = defineEndpoint({
  operationId: "get-is-user-group-member",
  method: "GET",
  path: "/user_groups/{user_group_id}/members/{user_id}",
  authentication: "user",
  effectiveness: "read",
  role: "human-member",
  summary: "Whether somebody is in a group, directly or through subgroups.",
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
  summary: "Adds and removes members and subgroups; all or nothing.",
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
  summary: "Ids of the groups within a group, directly or at any depth.",
  params: { direct_subgroup_only: flag(false), user_group_id: Id },
  ok: { subgroups: Type.Array(Id) },
  errors: [],
});

export const updateUserGroupSubgroups = defineEndpoint({
  operationId: "update-user-group-subgroups",
  method: "POST",
  path: "/user_groups/{user_group_id}/subgroups",
  authentication: "user",
  effectiveness: "durable",
  role: "human-member",
  summary: "Adds and removes subgroups; all or nothing.",
  params: { add: Type.Optional(GroupIds), delete: Type.Optional(GroupIds), user_group_id: Id },
  ok: {},
  errors: [],
});
