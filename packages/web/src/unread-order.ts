/** Which unread conversation comes next. */
import { directNarrow, type NarrowPlace, narrowKey, topicNarrow } from "./state/narrow.ts";
import { channelName, isTopicMuted, place, unreadPlaces } from "./store.ts";

/** In the order of the left side, beginning after the present one. */
export function nextUnread(isDirect: boolean): NarrowPlace | null {
  const { byChannel, direct } = unreadPlaces.peek();
  const names = new Map([...byChannel.keys()].map((id) => [id, channelName(id) ?? ""]));
  const topics = [...byChannel.values()]
    .flat()
    .filter(({ channelId, topic }) => !isTopicMuted(channelId, topic))
    .sort(
      (a, b) =>
        (names.get(a.channelId) ?? "").localeCompare(names.get(b.channelId) ?? "") ||
        (b.ids.at(-1) ?? 0) - (a.ids.at(-1) ?? 0),
    )
    .map(({ channelId, topic }) => topicNarrow(channelId, topic));
  const directs = direct.map(({ userIds }) => directNarrow(userIds));
  const all = isDirect ? directs : [...topics, ...directs];
  const now = place.peek();
  const here = now.kind === "narrow" ? narrowKey(now.terms) : "";
  const at = all.findIndex(({ terms }) => narrowKey(terms) === here);
  const others = [...all.slice(at + 1), ...all.slice(0, Math.max(0, at))];
  return others[0] ?? null;
}
