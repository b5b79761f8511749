/**
 * Helpers for tests of scheduled messages and reminders: a server with a controlled clock, and users who follow events.
 */
import type { Lmdb } from "../../src/store/lmdb.ts";
import type { Client, Event, Follower, Params } from "./client.ts";
import type { ManualClock } from "./manual-clock.ts";
import { applyScheduled, scheduledPicture, scheduledTypes } from "./mirror-scheduled.ts";
import { startClockedServer } from "./realtime-clock.ts";
import type { Teardown, TestServer } from "./server.ts";

/** In seconds; the default due time of the tests' messages. */
export const laterS = 3600;

export interface ScheduledStage {
  readonly server: TestServer;
  readonly clock: ManualClock;
  readonly owner: Client;
  readonly member: Client;
  readonly other: Client;
  /** UNIX seconds. */
  in(seconds: number): number;
  /** Advances time; resolves when all work that became due is done. */
  pass(seconds: number): Promise<void>;
}

/** Timers of scheduled messages and reminders only: emails have timers, too. */
export function timersLeft(server: TestServer): number {
  return timersIn(server.realm.lmdb);
}

export function timersIn(lmdb: Lmdb): number {
  const types = lmdb.rows("timers", { limit: 1000 }).map(({ row }) => (row.command as { type: string }).type);
  return types.filter((type) => !/^(?:missed-messages|mail)\./.test(type)).length;
}

export async function scheduledStage(t: Teardown): Promise<ScheduledStage> {
  const { server, clock } = await startClockedServer(t);
  const [member, other] = [await server.user("member"), await server.user("other")];
  return {
    server,
    clock,
    owner: server.owner,
    member,
    other,
    in: (seconds) => Math.floor(clock.now() / 1000) + seconds,
    async pass(seconds) {
      clock.jump(seconds * 1000);
      await server.realm.dispatcher.idle();
    },
  };
}

/** Schedules a message, and expects success. @returns the id */
export async function schedule(client: Client, params: Params): Promise<number> {
  const answer = await client.post("/scheduled_messages", params);
  if (answer.status !== 200) throw new Error(`not scheduled: ${JSON.stringify(answer.body)}`);
  return answer.body.scheduled_message_id;
}

export async function scheduledOf(client: Client): Promise<Event[]> {
  return (await client.get("/scheduled_messages")).body.scheduled_messages;
}

export async function remindersOf(client: Client): Promise<Event[]> {
  return (await client.get("/reminders")).body.reminders;
}

/** Follows both lists and messages. */
export function followLists(client: Client): Promise<Follower> {
  const types = [...scheduledTypes, "message"];
  return client.follow({ event_types: types, fetch_event_types: scheduledTypes, apply_markdown: false });
}

/** The lists as changed by events, comparable with a fresh /register. */
export async function listsByEvents(follower: Follower): Promise<Event> {
  const state = structuredClone(follower.state);
  for (const event of await follower.settled()) applyScheduled(state, event);
  return scheduledPicture(state);
}

export async function freshLists(client: Client): Promise<Event> {
  const { scheduled_messages, reminders } = await client.register({ fetch_event_types: scheduledTypes });
  return { scheduled_messages, reminders };
}

/** The newest messages that a user can read, oldest first, as Markdown. */
export async function newestOf(client: Client, count: number, narrow: readonly Params[] = []): Promise<Event[]> {
  const params = { anchor: "newest", num_before: count, num_after: 0, apply_markdown: false, narrow };
  return (await client.get("/messages", params)).body.messages;
}
