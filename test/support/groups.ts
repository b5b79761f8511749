/** What tests of user groups share: making one, reading one, and values of permissions that name people. */
import type { Client, Params } from "./client.ts";

// biome-ignore lint/suspicious/noExplicitAny: records are compared as wholes, their shape is what tests find out
export type Group = any;

/** Names people directly, in the form of spec 2.2. */
export function people(...clients: readonly Client[]) {
  const ids = clients.map(({ userId }) => userId).sort((a, b) => a - b);
  return { direct_members: ids, direct_subgroups: [] as number[] };
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
