/** What commands about user groups carry (spec 2.5, 4.6). */
import type { UserGroupSettingName } from "../../schemas/group-settings.ts";
import type { GroupSettingChange, GroupSettingValue } from "../../schemas/types.ts";
import type { Answer, Ticket } from "../effects.ts";

export interface GroupCreate {
  readonly name: string;
  readonly description: string;
  readonly memberIds: readonly number[];
  readonly subgroupIds: readonly number[];
  /** What is not said is as the table of settings says. */
  readonly settings: Readonly<Partial<Record<UserGroupSettingName, GroupSettingValue>>>;
}

/** null: not sent, stays as it is. */
export interface GroupUpdate {
  readonly groupId: number;
  readonly name: string | null;
  readonly description: string | null;
  /** false makes a deactivated group active again; true does nothing (spec 4.6). */
  readonly isDeactivated: boolean | null;
  readonly settings: Readonly<Partial<Record<UserGroupSettingName, GroupSettingChange>>>;
}

/** In this order; each part is checked against what the parts before it leave. */
export interface GroupMembersChange {
  readonly groupId: number;
  readonly addIds: readonly number[];
  readonly removeIds: readonly number[];
  readonly addSubgroupIds: readonly number[];
  readonly removeSubgroupIds: readonly number[];
}

export interface GroupMembersStep {
  readonly op: "add" | "remove";
  readonly userIds: readonly number[];
}

/** What is left of a large change of members; `waiting` names the request that is answered when it is done. */
export interface GroupMembersRest {
  readonly groupId: number;
  readonly steps: readonly GroupMembersStep[];
  readonly waiting: { readonly ticket: Ticket; readonly boot: number; readonly answer: Answer } | null;
}
