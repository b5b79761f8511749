/** What a client makes of what events tell of people (OpenAPI, GET /events; behaviour 4.4): a part of the mirror. */

// biome-ignore lint/suspicious/noExplicitAny: state and events are JSON whose shape is what tests find out
type Json = any;

/** A custom profile field's value that an event tells. */
export function setProfileValue({ profile_data: data }: Json, { id, ...value }: Json): void {
  if (value.value === null) delete data[id];
  else data[id] = value;
}

/** What clients derive from a role. */
export function rolesOf(role: number | undefined): Json {
  if (role === undefined) return {};
  return { role, is_owner: role === 100, is_admin: role <= 200, is_guest: role === 600 };
}
