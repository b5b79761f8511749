/** Custom profile fields as administrators create them and users fill them in. */
import type { Answer, Client, Event, Params } from "./client.ts";

export const fieldTypes = { short: 1, long: 2, list: 3, date: 4, link: 5, people: 6, account: 7, pronouns: 8 };

export const colours = { red: { text: "Red", order: "1" }, blue: { text: "Blue", order: "2" } };

/** @returns the field's id @throws when it is rejected */
export async function makeField(by: Client, name: string, type: number, more: Params = {}): Promise<number> {
  const answer = await by.post("/realm/profile_fields", { name, field_type: type, ...more });
  if (answer.status !== 200) throw new Error(`no field ${name}: ${JSON.stringify(answer.body)}`);
  return answer.body.id;
}

/** The fields in their order. */
export async function fieldsSeenBy(client: Client): Promise<Event[]> {
  return (await client.get("/realm/profile_fields")).body.custom_fields;
}

export async function fieldSeenBy(client: Client, id: number): Promise<Event> {
  return (await fieldsSeenBy(client)).find((field) => field.id === id);
}

export function enter(client: Client, id: number, value: unknown): Promise<Answer> {
  return client.patch("/users/me/profile_data", { data: [{ id, value }] });
}

/** The caller's own profile. */
export async function profileOf(client: Client): Promise<Event> {
  return (await client.get("/users/me")).body.profile_data;
}
