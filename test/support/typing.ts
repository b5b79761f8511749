/** What tests of typing share: a server whose silent typists end when the test says so, and what followers were told since last asked. */
import type { Client, Params } from "./client.ts";
import { type Follower, personOf } from "./conversation.ts";
import { ManualClock } from "./manual-clock.ts";
import { startTestServer, type Teardown, type TestServer } from "./server.ts";

/** For a client that is told of typing in channels. */
export const typingCapable = { client_capabilities: { stream_typing_notifications: true } };

export async function typingServer(t: Teardown) {
  const clock = new ManualClock(Date.UTC(2031, 4, 5));
  const server = await startTestServer(t, { clock });
  t.teardown(() => clock.release());
  return { clock, server, owner: server.owner };
}

/** Somebody starts typing, or what `params` says. */
export function type(by: Client, params: Params) {
  return by.post("/typing", { op: "start", ...params });
}

/** Events of one type that came since it was asked last; whatever else came is forgotten with them. */
export async function told(follower: Follower, eventType = "typing") {
  await follower.settled();
  const events = follower.ofType(eventType);
  follower.events.splice(0);
  return events;
}

let made = 0;

/** So many new people. */
export async function newPeople(server: TestServer, count: number): Promise<Client[]> {
  made++;
  return await Promise.all(Array.from({ length: count }, (_, index) => personOf(server, `p${made}x${index}y`)));
}
