/** The views of a reader over HTTP, and the same views according to the model: two lists of named values to compare. */
import type { Client } from "../support/client.ts";
import type { ConversationModel, Post, TopicAddress } from "./conversation-model.ts";
import type { World } from "./world.ts";

type View = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: tests compare whole responses of any shape
type Json = any;

interface Narrow {
  readonly name: string;
  readonly terms: readonly { readonly operator: string; readonly operand: unknown }[];
  /** By index of the reader. */
  readonly test: (reader: number, post: Post) => boolean;
}

/** Whether a narrow without a channel finds the message: only if the user received or marked it. */
function holds(facts: ConversationModel, reader: number, post: Post): boolean {
  return facts.hasReceived(reader, post) || facts.isUnread(reader, post) || facts.isStarred(reader, post.id);
}

function narrowsOf(world: World, reader: number): Narrow[] {
  const { facts, channelIds, people } = world;
  const is = (operand: string, test: (post: Post) => boolean): Narrow => ({
    name: `is:${operand}`,
    terms: [{ operator: "is", operand }],
    test: (_reader, post) => holds(facts, reader, post) && test(post),
  });
  const places = new Map<string, TopicAddress>();
  for (const { place } of facts.posts) if (place !== null) places.set(JSON.stringify(place), place);
  const directs = new Map<string, readonly number[]>();
  for (const { people: group } of facts.posts) if (group.includes(reader)) directs.set(group.join(), group);
  const open = channelIds.flatMap((id, channel) => (facts.isOpenTo(reader, channel) ? [[id, channel] as const] : []));
  return [
    { name: "all", terms: [], test: (_reader, post) => facts.hasReceived(reader, post) },
    is("unread", (post) => facts.isUnread(reader, post)),
    is("starred", (post) => facts.isStarred(reader, post.id)),
    is(
      "mentioned",
      (post) => facts.hasReceived(reader, post) && (post.mentions.includes(reader) || facts.callsAll(reader, post)),
    ),
    is("dm", ({ place }) => place === null),
    ...open.map(([operand, channel]) => ({
      name: `channel ${channel}`,
      terms: [{ operator: "channel", operand }],
      test: (_reader: number, { place }: Post) => place?.channel === channel,
    })),
    ...[...places.values()]
      .filter(({ channel }) => facts.isOpenTo(reader, channel))
      .map(({ channel, topic }) => ({
        name: `topic ${channel}:${topic}`,
        terms: [
          { operator: "channel", operand: channelIds[channel] },
          { operator: "topic", operand: topic.toUpperCase() },
        ],
        test: (_reader: number, { place }: Post) => place?.channel === channel && place.topic === topic,
      })),
    ...[...directs.values()].map((group) => ({
      name: `dm ${group.join()}`,
      terms: [
        {
          operator: "dm",
          operand: group
            .filter((index) => index !== reader || group.length === 1)
            .map((index) => people[index]?.userId),
        },
      ],
      test: (_reader: number, post: Post) => post.people.join() === group.join(),
    })),
    ...people.map(({ userId }, sender) => ({
      name: `sender ${sender}`,
      terms: [{ operator: "sender", operand: userId }],
      test: (_reader: number, post: Post) => post.sender === sender && facts.hasReceived(reader, post),
    })),
  ];
}

async function idsIn(client: Client, terms: Narrow["terms"]): Promise<number[]> {
  const range = { anchor: "newest", num_before: 1000, num_after: 0 };
  const { body } = await client.get("/messages", { ...range, narrow: terms });
  return body.result === "success" ? body.messages.map(({ id }: Json) => id) : [body.msg];
}

/** Everything that is compared, as the server shows it. */
export async function shownTo(world: World, reader: number): Promise<View> {
  const { facts, channelIds } = world;
  const client = world.client(reader);
  const view: View = {};
  for (const { name, terms } of narrowsOf(world, reader)) view[name] = await idsIn(client, terms);
  const state = await client.register({
    fetch_event_types: ["message", "update_message_flags", "starred_messages"],
    client_capabilities: { empty_topic_name: true },
  });
  view["unread"] = state["unread_msgs"];
  view["starred"] = state["starred_messages"];
  await client.delete("/events", { queue_id: state.queue_id });
  const first = { anchor: "first_unread", num_before: 0, num_after: 0 };
  view["first unread"] = (await client.get("/messages", first)).body.anchor;
  for (const [channel, id] of channelIds.entries()) {
    const { body } = await client.get(`/users/me/${id}/topics`, { allow_empty_topic_name: true });
    view[`topics ${channel}`] = body.topics ?? body.msg;
  }
  const { body } = await client.get("/messages", {
    message_ids: facts.posts.map(({ id }) => id),
    apply_markdown: false,
    allow_empty_topic_name: true,
  });
  view["messages"] = body.messages.map((message: Json) => ({
    id: message.id,
    content: message.sender_id === 1 ? "" : message.content,
    subject: message.subject,
    channel: message.stream_id ?? null,
    flags: message.flags,
    changes: message.edit_history?.length ?? 0,
    reactions: message.reactions.map((reaction: Json) => `${reaction.user_id} ${reaction.emoji_name}`).sort(),
  }));
  return view;
}

/** The same according to the facts. */
export function expectedBy(world: World, reader: number): View {
  const { facts, channelIds, people } = world;
  const readable = facts.readable(reader);
  const ids = (posts: readonly Post[]) => posts.map(({ id }) => id);
  const view: View = {};
  for (const { name, test } of narrowsOf(world, reader))
    view[name] = ids(readable.filter((post) => test(reader, post)));
  view["unread"] = unreadOf(world, reader);
  view["starred"] = ids(facts.posts.filter(({ id }) => facts.isStarred(reader, id)));
  view["first unread"] =
    readable.find((post) => facts.isUnread(reader, post) && !facts.isMuted(reader, post))?.id ?? 10_000_000_000_000_000;
  for (const channel of channelIds.keys()) {
    view[`topics ${channel}`] = facts.isOpenTo(reader, channel) ? topicsOf(readable, channel) : "Invalid channel ID";
  }
  view["messages"] = readable.map((post) => ({
    id: post.id,
    content: post.sender < 0 ? "" : post.content,
    subject: post.place?.topic ?? "",
    channel: post.place === null ? null : channelIds[post.place.channel],
    flags: facts.flagsOf(reader, post),
    changes: facts.changesAnnounced(reader, post),
    reactions: [...post.reactions]
      .map((reaction) => {
        const [person, emoji] = reaction.split(" ");
        return `${people[Number(person)]?.userId} ${emoji}`;
      })
      .sort(),
  }));
  return view;
}

function topicsOf(readable: readonly Post[], channel: number) {
  const newest = new Map<string, number>();
  for (const { id, place } of readable) if (place?.channel === channel) newest.set(place.topic, id);
  return [...newest].map(([name, max_id]) => ({ name, max_id })).sort((a, b) => b.max_id - a.max_id);
}

function unreadOf({ facts, channelIds, people }: World, reader: number) {
  const unread = facts.readable(reader).filter((post) => facts.isUnread(reader, post));
  const groups = new Map<string, Post[]>();
  for (const post of unread) {
    const key = post.place === null ? post.people.join() : `${post.place.channel}:${post.place.topic}`;
    groups.set(key, [...(groups.get(key) ?? []), post]);
  }
  const userIds = ([first]: readonly Post[]) => (first?.people ?? []).map((index) => people[index]?.userId ?? 0);
  const ids = (posts: readonly Post[]) => posts.map(({ id }) => id);
  const own = people[reader]?.userId ?? 0;
  const directs = [...groups.values()].filter(([first]) => first?.place === null);
  return {
    count: unread.filter((post) => !facts.isMuted(reader, post)).length,
    pms: directs
      .filter((posts) => userIds(posts).length <= 2)
      .map((posts) => {
        const other = userIds(posts).find((id) => id !== own) ?? own;
        return { other_user_id: other, sender_id: other, unread_message_ids: ids(posts) };
      })
      .sort((a, b) => a.other_user_id - b.other_user_id),
    huddles: directs
      .filter((posts) => userIds(posts).length > 2)
      .map((posts) => ({ user_ids_string: userIds(posts).join(), unread_message_ids: ids(posts) }))
      .sort((a, b) => (a.user_ids_string < b.user_ids_string ? -1 : 1)),
    streams: [...groups.values()]
      .flatMap((posts) => {
        const place = posts[0]?.place ?? null;
        return place === null ? [] : [{ channel: place.channel, topic: place.topic, posts }];
      })
      .sort((a, b) => a.channel - b.channel || (a.topic.toLowerCase() < b.topic.toLowerCase() ? -1 : 1))
      .map(({ channel, topic, posts }) => ({ stream_id: channelIds[channel], topic, unread_message_ids: ids(posts) })),
    mentions: ids(
      unread.filter(
        (post) => post.mentions.includes(reader) || (facts.callsAll(reader, post) && !facts.isMuted(reader, post)),
      ),
    ),
    old_unreads_missing: false,
  };
}
