/** What can complete a started name: people, groups, channels, topics, emoji, commands. */
import { emojiNames, loadEmoji } from "../emoji.ts";
import { activeUsers, channels, groups, subscribedIds, subscriptions, topicLabel } from "../store.ts";
import { fetchTopics, knownTopics, newestOf } from "../topics.ts";
import { best, type Candidate, type Started } from "./completion.ts";
import { channelReference, channelStart, mentionOf, topicReference } from "./references.ts";

const candidatesMax = 8;

const wildcards = [
  { name: "all", note: "Notify everybody in the channel" },
  { name: "topic", note: "Notify everybody in the topic" },
];

const commands: readonly Candidate[] = [
  { key: "poll", label: "/poll", note: "Question, then an option on each line", text: "/poll " },
  { key: "todo", label: "/todo", note: "Title, then a task on each line", text: "/todo " },
  { key: "me", label: "/me", note: "Says what you do", text: "/me " },
];

/** The server compares names in any case. */
function isShared(name: string): boolean {
  const folded = name.toLowerCase();
  return activeUsers.peek().filter((user) => user.full_name.toLowerCase() === folded).length > 1;
}

function people({ query, isSilent }: Started): readonly Candidate[] {
  const sign = isSilent === true ? "@_" : "@";
  const users = best(activeUsers.peek(), (user) => user.full_name, query, candidatesMax).map((user) => ({
    key: `user-${user.user_id}`,
    label: user.full_name,
    note: user.delivery_email ?? "",
    userId: user.user_id,
    text: `${sign}**${mentionOf(user.full_name, user.user_id, isShared(user.full_name))}** `,
  }));
  const named = groups
    .peek()
    .filter((group) => !group.is_system_group && !group.deactivated && !group.name.includes("*"));
  const found = best(named, (group) => group.name, query, 3).map((group) => ({
    key: `group-${group.id}`,
    label: group.name,
    note: group.description,
    sign: "@",
    text: `${sign}*${group.name}* `,
  }));
  const all = best(wildcards, ({ name }) => name, query, 2).map(({ name, note }) => ({
    key: name,
    label: name,
    note,
    sign: "@",
    text: `@**${name}** `,
  }));
  return [...users, ...found, ...all].slice(0, candidatesMax);
}

function channelCandidates({ query }: Started): readonly Candidate[] {
  const subscribed = subscriptions.peek();
  const others = [...channels.peek().values()].filter(({ stream_id: id }) => !subscribedIds.peek().has(id));
  return best([...subscribed, ...others], ({ name }) => name, query, candidatesMax).map((channel) => ({
    key: String(channel.stream_id),
    label: channel.name,
    note: channel.description,
    sign: "#",
    text: channelStart(channel.name) ?? `${channelReference({ id: channel.stream_id, name: channel.name })} `,
  }));
}

function topics({ query, channel }: Started): readonly Candidate[] {
  const found = [...channels.peek().values()].find(({ name }) => name === channel);
  if (found === undefined) return [];
  const known = knownTopics(found.stream_id);
  if (known.length === 0) fetchTopics(found.stream_id).catch(() => undefined);
  const place = { id: found.stream_id, name: found.name };
  const whole = { key: "channel", label: `Only #${found.name}`, text: `${channelReference(place)} ` };
  const named = best(known, topicLabel, query, candidatesMax).map((topic) => ({
    key: topic,
    label: topicLabel(topic),
    sign: ">",
    text: `${topicReference(place, topic, newestOf(place.id, topic))} `,
  }));
  return query === "" ? [whole, ...named] : named;
}

function emoji({ query }: Started): readonly Candidate[] {
  loadEmoji().catch(() => undefined);
  return best(emojiNames.value, ({ name }) => name, query, candidatesMax).map(({ name, character, url }) => ({
    key: name,
    label: `:${name}:`,
    sign: character ?? (url === undefined ? "" : "🖼"),
    text: `:${name}: `,
  }));
}

export function candidatesFor(started: Started): readonly Candidate[] {
  switch (started.kind) {
    case "person":
      return people(started);
    case "channel":
      return channelCandidates(started);
    case "topic":
      return topics(started);
    case "emoji":
      return emoji(started);
    case "command":
      return commands.filter(({ key }) => key.startsWith(started.query));
    default:
      return started.kind satisfies never;
  }
}
