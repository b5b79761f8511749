/** The current state of POST /register, without leaving a queue behind. */
import type { Client, Event } from "./client.ts";

/** The state of some sections; by default those of the organization. */
export async function stateOf(client: Client, types: readonly string[] = ["realm"]): Promise<Event> {
  const params = { fetch_event_types: types, event_types: ["message"] };
  const { queue_id: id, last_event_id: _last, ...state } = await client.register(params);
  await client.delete("/events", { queue_id: id });
  return state;
}
