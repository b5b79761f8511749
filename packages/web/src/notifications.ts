/** Tells a person who is not looking: by the title, by the badge of the icon, and by notifications of the desktop. */
import { effect } from "@preact/signals";
import type { Events } from "../../client/src/exports.ts";
import { conversationKey } from "../../client/src/state/index.ts";
import { htmlOf, plainTextOf } from "./content.ts";
import { go } from "./navigation.ts";
import { directNarrow, topicNarrow } from "./state/narrow.ts";
import {
  channelName,
  chat,
  isTopicMuted,
  myId,
  settings,
  subscriptions,
  topicLabel,
  topicPolicy,
  unreadTotal,
} from "./store.ts";

const followed = 3;

/**
 * Whether the person wants to learn of it. Mentions by name and alert words also count in muted conversations; wildcards
 * and other messages only where nothing is muted, or in followed topics.
 */
function wantsNotification({ message, flags }: Events["message"]): boolean {
  const wanted = settings.peek();
  if (message.sender_id === myId.peek() || flags.includes("read") || wanted === undefined) return false;
  const { stream_id: channelId, subject: topic } = message;
  const isPersonal = channelId === undefined || flags.includes("mentioned") || flags.includes("has_alert_word");
  if (isPersonal && wanted.enable_desktop_notifications) return true;
  if (channelId === undefined) return false;
  const isFollowed = topicPolicy(channelId, topic) === followed;
  if (isFollowed && wanted.enable_followed_topic_desktop_notifications) return true;
  const own = subscriptions.peek().find(({ stream_id: id }) => id === channelId);
  const isMuted = isTopicMuted(channelId, topic);
  if (wanted.enable_desktop_notifications && flags.some((flag) => flag.endsWith("wildcard_mentioned"))) {
    if (isFollowed && wanted.enable_followed_topic_wildcard_mentions_notify) return true;
    if (!isMuted && (own?.wildcard_mentions_notify ?? wanted.wildcard_mentions_notify)) return true;
  }
  return !isMuted && (own?.desktop_notifications ?? wanted.enable_stream_desktop_notifications);
}

const textMax = 200;

export function notify(event: Events["message"]): void {
  if (!("Notification" in window) || Notification.permission !== "granted" || !document.hidden) return;
  if (!wantsNotification(event)) return;
  const { message } = event;
  const where =
    message.stream_id === undefined
      ? ""
      : ` (#${channelName(message.stream_id) ?? ""} > ${topicLabel(message.subject)})`;
  const isShown = message.stream_id !== undefined || settings.peek()?.pm_content_in_desktop_notifications !== false;
  const shown = new Notification(`${message.sender_full_name}${where}`, {
    body: isShown ? plainTextOf(htmlOf(message)).slice(0, textMax) : "New message",
    tag: conversationKey(myId.peek(), message),
  });
  shown.addEventListener("click", () => {
    window.focus();
    const people = typeof message.display_recipient === "string" ? [] : message.display_recipient;
    const others = people.map(({ id }) => id).filter((id) => id !== myId.peek());
    go(
      message.stream_id === undefined
        ? directNarrow(others.length === 0 ? [myId.peek()] : others, message.id)
        : topicNarrow(message.stream_id, message.subject, message.id),
    );
    shown.close();
  });
}

export function watchTitle(): void {
  effect(() => {
    const count = unreadTotal.value;
    const name = chat.value?.realm_name ?? "Colloquy";
    document.title = count === 0 ? name : `(${count}) ${name}`;
    const badge = navigator as Navigator & { setAppBadge?(count: number): Promise<void> };
    badge.setAppBadge?.(count).catch(() => undefined);
  });
}
