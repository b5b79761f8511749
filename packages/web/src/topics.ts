/** The topics of channels as the server lists them. What was moved or deleted is asked for again where it is shown. */
import { signal } from "@preact/signals";
import { channelKey } from "../../client/src/state/index.ts";
import { client } from "./api.ts";
import { complain } from "./notices.ts";
import { channelOf, type Term, topicOf } from "./state/narrow.ts";
import { unread } from "./store.ts";

interface KnownTopic {
  readonly name: string;
  /** Its newest message: an address with it leads to the topic under any name. */
  readonly newest: number;
}

const known = signal<ReadonlyMap<number, readonly KnownTopic[]>>(new Map());

/** Rises when topics of any channel were moved, renamed or deleted. */
export const topicChanges = signal(0);

/** Channels that are being asked for, and whether they must be asked for again. */
const asked = new Map<number, boolean>();

export async function fetchTopics(channelId: number): Promise<void> {
  const isRunning = asked.has(channelId);
  asked.set(channelId, isRunning);
  if (isRunning) return;
  try {
    const { topics } = await client.call("GET /users/me/{stream_id}/topics", {
      stream_id: channelId,
      allow_empty_topic_name: true,
    });
    const list = topics.map(({ name, max_id: newest }) => ({ name, newest }));
    known.value = new Map(known.peek()).set(channelId, list);
  } catch (error) {
    complain("The topics were not loaded", error);
  }
  const isOutdated = asked.get(channelId) === true;
  asked.delete(channelId);
  if (isOutdated) await fetchTopics(channelId);
}

/** The topic of a new message is at the top of its channel. */
export function noteTopic(channelId: number, name: string, newest: number): void {
  const list = known.peek().get(channelId);
  if (list === undefined) return;
  const others = list.filter((one) => one.name.toLowerCase() !== name.toLowerCase());
  known.value = new Map(known.peek()).set(channelId, [{ name, newest }, ...others]);
}

export function knownTopics(channelId: number): readonly string[] {
  return known.value.get(channelId)?.map(({ name }) => name) ?? [];
}

/** @returns the newest message of a topic, as far as it is known */
export function newestOf(channelId: number, topic: string): number | undefined {
  return known.value.get(channelId)?.find(({ name }) => name === topic)?.newest;
}

/** Whether the page knows without asking that the message is in the topic: as its newest or an unread one. */
export function isKnownIn(terms: readonly Term[], messageId: number): boolean {
  const [channelId, topic] = [channelOf(terms), topicOf(terms)];
  if (channelId === null || topic === null) return false;
  return (
    newestOf(channelId, topic) === messageId ||
    unread.peek().get(channelKey(channelId, topic))?.includes(messageId) === true
  );
}
