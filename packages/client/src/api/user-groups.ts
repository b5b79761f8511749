/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { GroupSettingChange, GroupValue, UserGroup } from "./types.ts";
export interface UserGroupsOperations {
  /** Creates a user group with members, subgroups and permissions; only for members of can_create_groups. */
  "POST /user_groups/create": {
    readonly params: {
      readonly can_add_members_group?: GroupValue;
      readonly can_join_group?: GroupValue;
      readonly can_leave_group?: GroupValue;
      readonly can_manage_group?: GroupValue;
      readonly can_mention_group?: GroupValue;
      readonly can_remove_members_group?: GroupValue;
      readonly description: string;
      readonly members: readonly number[];
      readonly name: string;
      readonly subgroups?: readonly number[];
    };
    readonly result: { readonly group_id: number };
  };
  /** Changes a group's name, description and permissions, and reactivates a deactivated group (spec 4.6). */
  "PATCH /user_groups/{user_group_id}": {
    readonly params: {
      readonly can_add_members_group?: GroupSettingChange;
      readonly can_join_group?: GroupSettingChange;
      readonly can_leave_group?: GroupSettingChange;
      readonly can_manage_group?: GroupSettingChange;
      readonly can_mention_group?: GroupSettingChange;
      readonly can_remove_members_group?: GroupSettingChange;
      readonly deactivated?: boolean;
      readonly description?: string;
      readonly name?: string;
      readonly user_group_id: number;
    };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Deactivates a group that holds no permission and is not a subgroup of another group. */
  "POST /user_groups/{user_group_id}/deactivate": {
    readonly params: { readonly user_group_id: number };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Returns all user groups of the organization, system groups first. */
  "GET /user_groups": {
    readonly params: { readonly include_deactivated_groups?: boolean };
    readonly result: { readonly user_groups: readonly UserGroup[] };
  };
  /** Returns the ids of a group's active members, direct ones or including subgroups. */
  "GET /user_groups/{user_group_id}/members": {
    readonly params: { readonly direct_member_only?: boolean; readonly user_group_id: number };
    readonly result: { readonly members: readonly number[] };
  };
  /** Returns whether a user is in a group, directly or through subgroups. */
  "GET /user_groups/{user_group_id}/members/{user_id}": {
    readonly params: {
      readonly direct_member_only?: boolean;
      readonly user_group_id: number;
      readonly user_id: number;
    };
    readonly result: { readonly is_user_group_member: boolean };
  };
  /** Adds and removes members and subgroups, atomically. */
  "POST /user_groups/{user_group_id}/members": {
    readonly params: {
      readonly add?: readonly number[];
      readonly add_subgroups?: readonly number[];
      readonly delete?: readonly number[];
      readonly delete_subgroups?: readonly number[];
      readonly user_group_id: number;
    };
    readonly result: Readonly<Record<never, never>>;
  };
  /** Returns the ids of a group's subgroups, direct ones or at any depth. */
  "GET /user_groups/{user_group_id}/subgroups": {
    readonly params: { readonly direct_subgroup_only?: boolean; readonly user_group_id: number };
    readonly result: { readonly subgroups: readonly number[] };
  };
  /** Adds and removes subgroups, atomically. */
  "POST /user_groups/{user_group_id}/subgroups": {
    readonly params: {
      readonly add?: readonly number[];
      readonly delete?: readonly number[];
      readonly user_group_id: number;
    };
    readonly result: Readonly<Record<never, never>>;
  };
}

export interface UserGroupsState {
  readonly realm_user_groups?: readonly UserGroup[];
}
