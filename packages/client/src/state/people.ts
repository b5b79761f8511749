/** People, bots, groups and presence, changed by events as clients do (OpenAPI, GET /events; behaviour 4.5, 2.20). */
import type { Operations } from "../api/index.ts";
import { withoutMember } from "./channels.ts";
import { type Changes, type ChatState, type Reducers, united } from "./chat-state.ts";

type Registered = Operations["POST /register"]["result"];
type Person = NonNullable<Registered["realm_users"]>[number];
type Group = NonNullable<Registered["realm_user_groups"]>[number];

/** The fields that clients derive from a role. */
function rolesOf(role: unknown): Partial<Person> {
  if (typeof role !== "number") return {};
  return { role: role as Person["role"], is_owner: role === 100, is_admin: role <= 200, is_guest: role === 600 };
}

interface ValueChange {
  readonly id: number;
  readonly value: string | null;
  readonly rendered_value?: string;
}

function withProfileValue(data: Person["profile_data"], { id, ...value }: ValueChange): Person["profile_data"] {
  const next: Record<string, { value: string; rendered_value?: string }> = { ...data };
  if (value.value === null) delete next[String(id)];
  else next[String(id)] = { ...value, value: value.value };
  return next;
}

/** No event removes a deactivated user from permissions: clients do it themselves (behaviour 2.20). */
function withoutDeactivated(state: ChatState, userId: number): Changes {
  const isOther = (id: number) => id !== userId;
  const dropFrom = <T extends object>(record: T): T => {
    let next = record;
    for (const [field, value] of Object.entries(record)) {
      const members: unknown =
        typeof value === "object" && value !== null ? Reflect.get(value, "direct_members") : null;
      if (!Array.isArray(members) || !members.includes(userId)) continue;
      next = { ...next, [field]: { ...value, direct_members: members.filter(isOther) } };
    }
    return next;
  };
  const groups = (state.realm_user_groups ?? []).map((group) =>
    dropFrom(group.members.includes(userId) ? { ...group, members: group.members.filter(isOther) } : group),
  );
  const realm = Object.fromEntries(Object.entries(state).filter(([name]) => name.startsWith("realm_can_")));
  const direct = Object.fromEntries(Object.entries(state).filter(([name]) => name.startsWith("realm_direct_")));
  const settings = dropFrom({ ...realm, ...direct, realm_create: state.realm_create_multiuse_invite_group });
  const { realm_create: create, ...permissions } = settings;
  return {
    ...withoutMember(state, dropFrom),
    ...(state.realm_user_groups === undefined ? {} : { realm_user_groups: groups }),
    ...permissions,
    ...(create === undefined ? {} : { realm_create_multiuse_invite_group: create }),
  };
}

export const peopleReducers: Reducers = {
  realm_user: (state, event, { unknownUser }) => {
    const users = state.realm_users ?? [];
    const former = state.realm_non_active_users ?? [];
    const isOther = ({ user_id: id }: { readonly user_id: number }) => id !== event.person.user_id;
    if (event.op === "add") {
      // A user who becomes visible to a guest may have had a placeholder, or been visible before.
      const { is_active: _always, ...record } = event.person;
      return { realm_users: [...users.filter(isOther), record] };
    }
    if (event.op === "remove") {
      // Clients that need an entry insert a placeholder (public API: user_list_incomplete).
      const stand = unknownUser === null ? [] : [unknownUser(event.person.user_id)];
      return { realm_users: [...users.filter(isOther), ...stand], realm_non_active_users: former.filter(isOther) };
    }
    const received: Readonly<Record<string, unknown>> = event.person;
    const {
      user_id: userId,
      is_active: isActive,
      custom_profile_field: value,
      new_email: email,
      role,
      ...more
    } = received;
    const { avatar_source: _source, avatar_url_medium: _medium, ...rest } = more;
    const record = users.find((user) => !isOther(user)) ?? former.find((user) => !isOther(user));
    // A replay may report a change of a user before the event that makes the user visible, which then carries
    // everything.
    if (record === undefined) return {};
    const next = {
      ...record,
      ...rest,
      ...(email === undefined ? {} : { email }),
      ...rolesOf(role),
      ...(value === undefined ? {} : { profile_data: withProfileValue(record.profile_data, value as ValueChange) }),
    } as Person;
    if (isActive === undefined) {
      const replace = (list: readonly Person[]) => list.map((user) => (user === record ? next : user));
      return { realm_users: replace(users), realm_non_active_users: replace(former) };
    }
    const moved = {
      realm_users: [...users.filter(isOther), ...(isActive === true ? [next] : [])],
      realm_non_active_users: [...former.filter(isOther), ...(isActive === true ? [] : [next])],
    };
    return isActive === true ? moved : { ...moved, ...withoutDeactivated(state, Number(userId)) };
  },
  realm_bot: (state, { op, bot }) => {
    const bots = state.realm_bots ?? [];
    const others = bots.filter(({ user_id: id }) => id !== bot.user_id);
    if (op === "delete") return { realm_bots: others };
    if (op === "add") return { realm_bots: [...others, bot] };
    // A replay shows a bot in its current form, or not at all; earlier changes are skipped.
    return { realm_bots: bots.map((known) => (known.user_id === bot.user_id ? { ...known, ...bot } : known)) };
  },
  /** Values of a removed field are removed with it. */
  custom_profile_fields: (state, { fields }) => {
    const ids = new Set(fields.map(({ id }) => String(id)));
    const kept = (person: Person): Person => {
      const entries = Object.entries(person.profile_data ?? {});
      if (entries.every(([id]) => ids.has(id))) return person;
      return { ...person, profile_data: Object.fromEntries(entries.filter(([id]) => ids.has(id))) };
    };
    return {
      custom_profile_fields: fields,
      realm_users: (state.realm_users ?? []).map(kept),
      realm_non_active_users: (state.realm_non_active_users ?? []).map(kept),
    };
  },
  user_group: (state, event) => {
    const groups = state.realm_user_groups ?? [];
    if (event.op === "add") {
      if (groups.some(({ id }) => id === event.group.id)) throw new Error(`group ${event.group.id} created twice`);
      return { realm_user_groups: [...groups, event.group] };
    }
    const { group_id: groupId } = event;
    const group = groups.find(({ id }) => id === groupId);
    if (group === undefined) throw new Error(`user_group ${event.op} of ${groupId}, which the client does not have`);
    const replaced = (change: Partial<Group>) => ({
      realm_user_groups: groups.map((known) => (known === group ? { ...group, ...change } : known)),
    });
    switch (event.op) {
      case "remove":
        return { realm_user_groups: groups.filter((known) => known !== group) };
      case "update":
        return replaced(event.data);
      case "add_members":
        return replaced({ members: united(group.members, event.user_ids) });
      case "remove_members":
        return replaced({ members: group.members.filter((id) => !event.user_ids.includes(id)) });
      case "add_subgroups":
        return replaced({ direct_subgroup_ids: united(group.direct_subgroup_ids, event.direct_subgroup_ids) });
      case "remove_subgroups": {
        const gone = event.direct_subgroup_ids;
        return replaced({ direct_subgroup_ids: group.direct_subgroup_ids.filter((id) => !gone.includes(id)) });
      }
      default:
        return event satisfies never;
    }
  },
  presence: (state, event) => {
    if ("presences" in event) return { presences: { ...state.presences, ...event.presences } };
    const { pushable: _always, ...website } = event.presence.website;
    const entry = { aggregated: website, website: { ...event.presence.website, pushable: false as const } };
    return { presences: { ...state.presences, [event.email ?? ""]: entry } };
  },
};
