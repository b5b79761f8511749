/** The inbox: every conversation with unread messages. Recent conversations: where something was said lately. */
import { useEffect, useState } from "preact/hooks";
import type { Message } from "../../../client/src/api/index.ts";
import { conversationKey } from "../../../client/src/state/index.ts";
import { conversationOf, isResolved, markTopicRead, shownTopic } from "../actions.ts";
import { client, explain } from "../api.ts";
import { openList, prefetch } from "../fetching.ts";
import { hrefOf } from "../navigation.ts";
import { attempt } from "../notices.ts";
import { messageLimits, messagesOf } from "../state/message-lists.ts";
import {
  directNarrow,
  everything,
  home,
  narrow,
  narrowKey,
  type Place,
  topicNarrow,
  withMessage,
} from "../state/narrow.ts";
import {
  channelName,
  channels,
  chat,
  isDirectMuted,
  isTopicMuted,
  mentions,
  messages,
  myId,
  nameOf,
  othersOf,
  topicLabel,
  unread,
  unreadPlaces,
  unreadTotal,
} from "../store.ts";
import { agoOf } from "../time.ts";
import { Icon } from "./icon.tsx";
import { Avatar, Problem } from "./parts.tsx";

/** Rows of a channel that are rendered; the rest are counted. */
const rowsMax = 200;

interface LineProps {
  readonly target: Place;
  readonly label: string;
  readonly isDone?: boolean;
  readonly ids: readonly number[];
  readonly onRead: () => void;
  readonly avatar?: number;
}

function Line({ target, label, isDone, ids, onRead, avatar }: LineProps) {
  const isMention = ids.some((id) => mentions.value.has(id));
  return (
    <li class="inbox-line">
      <a
        class="inbox-link"
        href={hrefOf(target)}
        onPointerEnter={() => {
          if (target.kind === "narrow") prefetch(target.terms);
        }}
      >
        {avatar === undefined ? null : <Avatar userId={avatar} size="small" />}
        {isDone === true ? <Icon name="check" size={14} /> : null}
        <span class="inbox-label">{label}</span>
        {isMention ? <span class="tag">@</span> : null}
        <span class="count">
          {ids.length}
          <span class="sr-only"> unread</span>
        </span>
      </a>
      <button
        type="button"
        class="icon-button"
        aria-label={`Mark ${label} as read`}
        title="Mark as read"
        onClick={onRead}
      >
        <Icon name="check" size={16} />
      </button>
    </li>
  );
}

function markDirectRead(userIds: readonly number[]): Promise<boolean> {
  return attempt("The messages were not marked as read", () =>
    client.call("POST /messages/flags/narrow", {
      flag: "read",
      op: "add",
      anchor: "newest",
      num_before: 5_000,
      num_after: 0,
      narrow: [{ operator: "dm", operand: userIds }],
    }),
  );
}

function unreadText(): string {
  const total = unreadTotal.value;
  // The server counts only so many of them.
  const more = chat.value?.unread_msgs?.old_unreads_missing === true ? "+" : "";
  return total === 0 ? "" : `${total.toLocaleString()}${more} unread`;
}

export function Inbox() {
  const { byChannel, direct } = unreadPlaces.value;
  const sections = [...byChannel]
    .map(([channelId, topics]) => ({
      channelId,
      name: channelName(channelId) ?? "",
      topics: topics
        .filter(({ topic }) => !isTopicMuted(channelId, topic))
        .sort((a, b) => (b.ids.at(-1) ?? 0) - (a.ids.at(-1) ?? 0)),
    }))
    .filter(({ topics, channelId }) => topics.length > 0 && channels.value.has(channelId))
    .sort((a, b) => a.name.localeCompare(b.name));
  const directs = [...direct].sort((a, b) => (b.ids.at(-1) ?? 0) - (a.ids.at(-1) ?? 0));
  return (
    <>
      <header class="head">
        <h1>Inbox</h1>
        <span class="head-note">{unreadText()}</span>
      </header>
      <div class="page-scroll">
        <div class="inbox">
          {sections.length === 0 && directs.length === 0 ? (
            <div class="empty">
              <p class="empty-title">You have read everything.</p>
              <p>
                Look at <a href={hrefOf({ kind: "recent" })}>recent conversations</a>, or write a message.
              </p>
            </div>
          ) : null}
          {directs.length === 0 ? null : (
            <section class="inbox-section" aria-label="Direct messages">
              <h2>
                <Icon name="direct" size={16} /> Direct messages
              </h2>
              <ul>
                {directs.map(({ userIds, ids }) => (
                  <Line
                    key={userIds.join()}
                    target={directNarrow(userIds)}
                    label={userIds.map(nameOf).join(", ")}
                    ids={ids}
                    avatar={userIds[0] ?? myId.value}
                    onRead={() => markDirectRead(userIds)}
                  />
                ))}
              </ul>
            </section>
          )}
          {sections.map(({ channelId, name, topics }) => (
            <section class="inbox-section" key={channelId} aria-label={`#${name}`}>
              <h2>
                <Icon name="hash" size={16} />
                <a href={hrefOf(narrow([{ operator: "channel", operand: channelId }]))}>{name}</a>
              </h2>
              <ul>
                {topics.slice(0, rowsMax).map(({ topic, ids }) => (
                  <Line
                    key={topic}
                    target={withMessage(topicNarrow(channelId, topic), ids.at(-1))}
                    label={topicLabel(shownTopic(topic))}
                    isDone={isResolved(topic)}
                    ids={ids}
                    onRead={() => markTopicRead(channelId, topic)}
                  />
                ))}
              </ul>
              {topics.length > rowsMax ? <p class="hint">And {topics.length - rowsMax} more topics.</p> : null}
            </section>
          ))}
        </div>
      </div>
    </>
  );
}

interface Recent {
  readonly last: Message;
  readonly senders: readonly number[];
  readonly count: number;
}

function conversationsOf(list: readonly Message[]): readonly Recent[] {
  const found = new Map<string, Recent>();
  for (const message of list) {
    const key = conversationKey(myId.value, message).toLowerCase();
    const known = found.get(key);
    const senders = [message.sender_id, ...(known?.senders ?? []).filter((id) => id !== message.sender_id)];
    found.set(key, { last: message, senders: senders.slice(0, 4), count: (known?.count ?? 0) + 1 });
  }
  return [...found.values()].sort((a, b) => b.last.id - a.last.id);
}

export function RecentConversations() {
  const [showsMuted, setShowsMuted] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [query, setQuery] = useState("");
  const terms = showsMuted ? everything : home;
  const list = messages.value.lists.get(narrowKey(terms));
  const isCurrent = list?.isStale === false;
  useEffect(() => {
    if (isCurrent) return;
    setProblem(null);
    openList(terms, "newest", messageLimits.list_grown_messages_max, 0).catch((error) => setProblem(explain(error)));
  }, [showsMuted, isCurrent]);
  const all = conversationsOf(
    messagesOf(messages.value, narrowKey(terms)).filter((one) => showsMuted || !isDirectMuted(othersOf(one))),
  );
  const labelOf = ({ last }: Recent) =>
    last.stream_id === undefined
      ? othersOf(last).map(nameOf).join(", ") || "Notes to yourself"
      : topicLabel(shownTopic(last.subject));
  const shown = all.filter((one) => labelOf(one).toLowerCase().includes(query.toLowerCase()));
  return (
    <>
      <header class="head">
        <h1>Recent conversations</h1>
        <label class="check">
          <input
            type="checkbox"
            checked={showsMuted}
            onChange={(event) => setShowsMuted(event.currentTarget.checked)}
          />
          Show muted
        </label>
        <input
          type="search"
          class="filter"
          aria-label="Find conversations"
          placeholder="Find"
          value={query}
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
      </header>
      <div class="page-scroll">
        {list === undefined && problem === null ? <p class="waiting">Loading conversations</p> : null}
        <Problem text={problem === null ? null : `The conversations were not loaded. ${problem}`} />
        <ul class="inbox recent">
          {shown.slice(0, rowsMax).map((one) => {
            const { last } = one;
            const ids = unread.value.get(conversationKey(myId.value, last)) ?? [];
            return (
              <li class="inbox-line" key={conversationKey(myId.value, last)}>
                <a class="inbox-link" href={hrefOf(conversationOf(last, null))}>
                  <span class="recent-channel">
                    {last.stream_id === undefined ? "Direct" : `#${channelName(last.stream_id) ?? ""}`}
                  </span>
                  {isResolved(last.subject) ? <Icon name="check" size={14} /> : null}
                  <span class="inbox-label">{labelOf(one)}</span>
                  {ids.length === 0 ? null : <span class="count">{ids.length}</span>}
                  <span class="recent-people">
                    {one.senders.map((id) => (
                      <Avatar key={id} userId={id} size="small" />
                    ))}
                  </span>
                  <span class="quiet recent-time">{agoOf(last.timestamp)}</span>
                </a>
              </li>
            );
          })}
        </ul>
        {list !== undefined && all.length === 0 ? <p class="empty">Nothing was said yet.</p> : null}
      </div>
    </>
  );
}
