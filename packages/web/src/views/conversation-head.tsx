/** The line above the messages of a conversation in a feed of many, and the head of the page for the present place. */
import { useState } from "preact/hooks";
import type { Message } from "../../../client/src/api/index.ts";
import {
  conversationOf,
  isResolved,
  markTopicRead,
  messageDialog,
  setTopicPolicy,
  shownTopic,
  toggleResolved,
  toggleTopicMuted,
} from "../actions.ts";
import { subscribe } from "../channel-actions.ts";
import { go, hrefOf } from "../navigation.ts";
import { canMove, canResolve } from "../permissions.ts";
import { messagesOf } from "../state/message-lists.ts";
import {
  channelNarrow,
  channelOf,
  directOf,
  isConversation,
  type NarrowPlace,
  narrowKey,
  type Term,
  topicOf,
} from "../state/narrow.ts";
import { operandText } from "../state/search.ts";
import {
  channelName,
  channels,
  isTopicMuted,
  messages,
  myId,
  nameOf,
  subscribedIds,
  topicLabel,
  topicPolicy,
} from "../store.ts";
import { Icon } from "./icon.tsx";
import { Html, IconButton, Menu, type MenuItem, useOneAtATime } from "./parts.tsx";

function TopicName({ topic }: { readonly topic: string }) {
  return (
    <>
      {isResolved(topic) ? <Icon name="check" size={14} /> : null}
      <span class={topic === "" ? "unnamed" : ""}>{topicLabel(shownTopic(topic))}</span>
    </>
  );
}

export function ConversationHead({ message }: { readonly message: Message }) {
  const { stream_id: channelId, subject: topic } = message;
  const href = hrefOf(conversationOf(message, null));
  if (channelId === undefined) {
    const people = typeof message.display_recipient === "string" ? [] : message.display_recipient;
    const others = people.map(({ id }) => id).filter((id) => id !== myId.value);
    return (
      <div class="conversation direct">
        <a href={href}>
          <Icon name="direct" size={14} />
          {others.length === 0 ? "Notes to yourself" : `You and ${others.map(nameOf).join(", ")}`}
        </a>
      </div>
    );
  }
  return (
    <div class="conversation">
      <a class="conversation-channel" href={hrefOf(channelNarrow(channelId))}>
        <Icon name="hash" size={14} />
        {channelName(channelId) ?? "unknown channel"}
      </a>
      <Icon name="right" size={12} />
      <a href={href}>
        <TopicName topic={topic} />
      </a>
    </div>
  );
}

const stateTitles: Readonly<Record<string, string>> = {
  starred: "Starred messages",
  mentioned: "Mentions",
  dm: "Direct messages",
  unread: "Unread messages",
  followed: "Followed topics",
  resolved: "Resolved topics",
};

function textOf(term: Term): string {
  const value = operandText(term, channelName, nameOf, topicLabel);
  return `${term.negated === true ? "not " : ""}${term.operator === "search" ? value : `${term.operator}: ${value}`}`;
}

function title(terms: readonly Term[]): string {
  if (terms.length === 0) return "Combined feed";
  const userIds = isConversation(terms) ? directOf(terms) : null;
  if (userIds !== null) {
    const others = userIds.filter((id) => id !== myId.value);
    return others.length === 0 ? "Notes to yourself" : others.map(nameOf).join(", ");
  }
  const [first] = terms;
  if (terms.length === 1 && first?.operator === "is") return stateTitles[String(first.operand)] ?? "Messages";
  if (terms.length === 1 && first?.operator === "sender" && typeof first.operand === "number") {
    return `Messages of ${nameOf(first.operand)}`;
  }
  return terms.map(textOf).join(" · ");
}

function topicMenu(channelId: number, topic: string, any: Message | undefined): readonly (MenuItem | null)[] {
  const policy = topicPolicy(channelId, topic);
  return [
    { label: "Mark as read", run: () => markTopicRead(channelId, topic) },
    policy === 3
      ? { label: "Stop following", run: () => setTopicPolicy(channelId, topic, 0) }
      : { label: "Follow topic", run: () => setTopicPolicy(channelId, topic, 3) },
    {
      label: isTopicMuted(channelId, topic) ? "Unmute topic" : "Mute topic",
      run: () => toggleTopicMuted(channelId, topic),
    },
    any === undefined || !canMove(any)
      ? null
      : {
          label: "Rename or move topic",
          run: () => {
            messageDialog.value = { kind: "move", message: any };
          },
        },
  ];
}

function TopicTools({ channelId, topic, terms }: { channelId: number; topic: string; terms: readonly Term[] }) {
  const [isOpen, setOpen] = useState(false);
  const any = messagesOf(messages.value, narrowKey(terms)).at(-1);
  const run = useOneAtATime();
  const resolve = () => run(async () => any !== undefined && (await toggleResolved(any.id, topic)));
  return (
    <>
      {canResolve(channelId) && topic !== "" && any !== undefined ? (
        <IconButton
          icon="check"
          label={isResolved(topic) ? "Mark as unresolved" : "Mark as resolved"}
          isPressed={isResolved(topic)}
          onClick={resolve}
        />
      ) : null}
      <div class="menu-box">
        <IconButton icon="more" label="Topic" onClick={() => setOpen(!isOpen)} />
        {isOpen ? <Menu label="Topic" items={topicMenu(channelId, topic, any)} onClose={() => setOpen(false)} /> : null}
      </div>
    </>
  );
}

export function FeedHead({ target }: { readonly target: NarrowPlace }) {
  const { terms } = target;
  const channelId = channelOf(terms);
  const topic = topicOf(terms);
  const channel = channelId === null ? undefined : channels.value.get(channelId);
  if (channelId === null) {
    return (
      <header class="head">
        <h1>{title(terms)}</h1>
      </header>
    );
  }
  const icon = channel?.invite_only === true ? "lock" : channel?.is_web_public === true ? "globe" : "hash";
  return (
    <header class="head">
      <h1>
        <a href={hrefOf(channelNarrow(channelId))}>
          <Icon name={icon} size={18} />
          {channel?.name ?? "Unknown channel"}
        </a>
        {topic === null ? null : (
          <>
            <Icon name="right" size={14} />
            <span class="head-topic">
              <TopicName topic={topic} />
            </span>
          </>
        )}
      </h1>
      {topic === null && channel !== undefined ? (
        <Html html={channel.rendered_description} class="head-note rendered" />
      ) : (
        <span class="head-note" />
      )}
      {channel !== undefined && !subscribedIds.value.has(channelId) ? (
        <button type="button" class="primary" onClick={() => subscribe(channel.name)}>
          Subscribe
        </button>
      ) : null}
      {topic === null ? null : <TopicTools channelId={channelId} topic={topic} terms={terms} />}
      <IconButton
        icon="gear"
        label="Channel settings"
        onClick={() => go({ kind: "channels", section: String(channelId) })}
      />
    </header>
  );
}
