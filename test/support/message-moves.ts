/** Moves messages over HTTP and checks where they are. */
import type { Test } from "tap";
import { auditRealm } from "./audit.ts";
import { type Client, type Params, success } from "./client.ts";
import type { TestServer } from "./server.ts";

/** Creates channels for tests that need one each, with every user subscribed by default. */
export function placeMaker(everybody: readonly Client[]) {
  let channels = 0;
  return {
    /** @returns the channel's id */
    place(more: Params = {}, people: readonly Client[] = everybody): Promise<number> {
      channels++;
      return (people[0] ?? (everybody[0] as Client)).createChannel(`place ${channels}`, people, more);
    },
    /** The name of the newest channel, or of an earlier one. */
    nameOf: (before = 0) => `place ${channels - before}`,
  };
}

export const moved = success({ detached_uploads: [] });
export const quietly = { send_notification_to_new_thread: false, send_notification_to_old_thread: false };

export function move(by: Client, id: number, params: Params) {
  return by.patch(`/messages/${id}`, { ...quietly, ...params });
}

export async function read(by: Client, id: number) {
  return (await by.get(`/messages/${id}`)).body.message;
}

/** [id, content] of a topic's messages, ascending. */
export async function topicOf(by: Client, channelId: number, topic: string): Promise<[number, string][]> {
  const narrow = [
    { operator: "channel", operand: channelId },
    { operator: "topic", operand: topic },
  ];
  const params = { anchor: "newest", num_before: 5000, num_after: 0, narrow, apply_markdown: false };
  const { body } = await by.get("/messages", params);
  return body.messages.map(({ id, content }: { id: number; content: string }) => [id, content]);
}

export async function idsOf(by: Client, channelId: number, topic: string): Promise<number[]> {
  return (await topicOf(by, channelId, topic)).map(([id]) => id);
}

export async function say(by: Client, channelId: number, topic: string, count: number): Promise<number[]> {
  const ids: number[] = [];
  for (let n = 0; n < count; n++) ids.push(await by.say(channelId, topic, `number ${n}`));
  return ids;
}

/** Checks that every index agrees with every row. */
export function audit(t: Test, server: TestServer): void {
  t.strictSame(auditRealm(server.realm.lmdb), []);
}
