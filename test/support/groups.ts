/** Helpers for tests of user groups: creating one, reading one, and permission values that name users. */
import type { Client, Params } from "./client.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests compare whole records of any shape
export type Group = any;

/** Names users directly, in the form of spec 2.2. */
export function people(...clients: readonly Client[]) {
  const ids = clients.map(({ userId }) => userId).sort((a, b) => a - b);
  return { direct_members: ids, direct_subgroups: [] as number[] };
}

export interface ExpectedSetting {
  readonly default: (creatorId: number) => unknown;
  /** Whether guests may have the permission. */
  readonly allowsEveryone: boolean;
}

/**
 * Every setting of spec 2.5, as described in behaviour 3.6. @param group ids of system groups, named without `role:`
 */
export function expectedSettings(group: (name: string) => number): Readonly<Record<string, ExpectedSetting>> {
  const byCreator = (creatorId: number) => ({ direct_members: [creatorId], direct_subgroups: [] });
  return {
    can_add_members_group: { default: byCreator, allowsEveryone: false },
    can_join_group: { default: () => group("nobody"), allowsEveryone: false },
    can_leave_group: { default: () => group("everyone"), allowsEveryone: true },
    can_manage_group: { default: byCreator, allowsEveryone: false },
    can_mention_group: { default: () => group("everyone"), allowsEveryone: true },
    can_remove_members_group: { default: () => group("nobody"), allowsEveryone: false },
  };
}

/** @returns the new group's id */
export async function createGroup(by: Client, name: string, members: readonly Client[] = [], more: Params = {}) {
  const ids = members.map(({ userId }) => userId);
  const made = await by.post("/user_groups/create", { name, description: `about ${name}`, members: ids, ...more });
  if (made.status !== 200) throw new Error(`no group ${name}: ${JSON.stringify(made.body)}`);
  return made.body.group_id as number;
}

/** The group's record, deactivated or not. */
export async function groupSeenBy(client: Client, id: number): Promise<Group> {
  const { body } = await client.get("/user_groups", { include_deactivated_groups: true });
  return body.user_groups.find((group: Group) => group.id === id);
}

export async function membersOf(client: Client, id: number, more: Params = {}): Promise<number[]> {
  const { body } = await client.get(`/user_groups/${id}/members`, more);
  return body.members;
}
