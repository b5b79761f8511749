/**
 * Helpers for tests of typing: a server on which inactive typists expire when the test advances its clock, and the
 * events that followers received.
 */
import type { Client, Follower, Params } from "./client.ts";
import { ManualClock } from "./manual-clock.ts";
import { startTestServer, type Teardown, type TestServer } from "./server.ts";

/** For a client that receives typing events of channels. */
export const typingCapable = { client_capabilities: { stream_typing_notifications: true } };

export async function typingServer(t: Teardown) {
  const clock = new ManualClock(Date.UTC(2031, 4, 5));
  const server = await startTestServer(t, { clock });
  return { clock, server, owner: server.owner };
}

/** The user starts typing; `params` override the default parameters. */
export function type(by: Client, params: Params) {
  return by.post("/typing", { op: "start", ...params });
}

/** Events of one type since the last call; other events are discarded. */
export async function receivedEvents(follower: Follower, eventType = "typing") {
  await follower.settled();
  const events = follower.ofType(eventType);
  follower.events.splice(0);
  return events;
}

let made = 0;

/** That many new users. */
export async function createUsers(server: TestServer, count: number): Promise<Client[]> {
  made++;
  return await Promise.all(Array.from({ length: count }, (_, index) => server.user(`p${made}x${index}y`)));
}
