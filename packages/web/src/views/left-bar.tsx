/** The left side: views, direct messages, and channels by folder with their topics and unread counts. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { prefetch } from "../fetching.ts";
import { go, hrefOf } from "../navigation.ts";
import {
  channelNarrow,
  channelOf,
  directNarrow,
  feed,
  inbox,
  narrowKey,
  type Place,
  stateNarrow,
  topicNarrow,
  topicOf,
  withMessage,
} from "../state/narrow.ts";
import {
  channels,
  chat,
  directs,
  drafts,
  folders,
  isDirectMuted,
  isTopicMuted,
  mentions,
  mutedChannels,
  myId,
  nameOf,
  people,
  place,
  scheduled,
  starred,
  subscriptions,
  topicLabel,
  topicPolicy,
  unread,
  unreadPlaces,
  unreadTotal,
} from "../store.ts";
import { fetchTopics, knownTopics, newestOf, topicChanges } from "../topics.ts";
import { Icon, type IconName } from "./icon.tsx";
import { memo, PresenceDot } from "./parts.tsx";

/** Channels whose topics are shown. */
const opened = signal<ReadonlySet<number>>(new Set());
const closedSections = signal<ReadonlySet<string>>(new Set());
export const isLeftOpen = signal(false);

const topicsShownMax = 8;
const directsShownMax = 12;
const allTopics = signal<ReadonlySet<number>>(new Set());

function toggled<T>(set: ReadonlySet<T>, value: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(value)) next.add(value);
  return next;
}

interface RowProps {
  readonly target: Place;
  readonly label: string;
  readonly icon?: IconName;
  readonly count?: number;
  readonly isQuiet?: boolean;
  readonly class?: string;
  readonly isCurrent: boolean;
  readonly before?: preact.ComponentChildren;
}

const Row = memo(({ target, label, icon, count = 0, isQuiet, class: className = "", isCurrent, before }: RowProps) => {
  const terms = target.kind === "narrow" ? target.terms : null;
  return (
    <a
      class={`row ${className} ${isCurrent ? "current" : ""} ${isQuiet === true ? "muted" : ""} ${count > 0 ? "unread" : ""}`}
      href={hrefOf(target)}
      aria-current={isCurrent ? "page" : undefined}
      onPointerEnter={() => {
        if (terms !== null && terms.length > 0) hover(terms);
      }}
      onPointerLeave={unhover}
      onClick={() => {
        isLeftOpen.value = false;
      }}
    >
      {before}
      {icon === undefined ? null : <Icon name={icon} size={16} />}
      <span class="row-label">{label}</span>
      {count === 0 ? null : (
        <span class="count">
          {count > 999 ? "999+" : count}
          <span class="sr-only"> unread</span>
        </span>
      )}
    </a>
  );
});

let hoverTimer: ReturnType<typeof setTimeout> | undefined;

function hover(terms: Parameters<typeof prefetch>[0]): void {
  clearTimeout(hoverTimer);
  hoverTimer = setTimeout(() => prefetch(terms), 120);
}

function unhover(): void {
  clearTimeout(hoverTimer);
}

function isAt(target: Place): boolean {
  const now = place.value;
  if (now.kind !== target.kind) return false;
  return now.kind !== "narrow" || target.kind !== "narrow" || narrowKey(now.terms) === narrowKey(target.terms);
}

function Views() {
  const rows: readonly [Place, string, IconName, number][] = [
    [inbox, "Inbox", "inbox", unreadTotal.value],
    [{ kind: "recent" }, "Recent conversations", "clock", 0],
    [feed, "Combined feed", "feed", 0],
    [stateNarrow("mentioned"), "Mentions", "at", mentions.value.size],
    [stateNarrow("starred"), "Starred messages", "star", 0],
    [{ kind: "drafts" }, "Drafts", "draft", 0],
    ...(scheduled.value.length > 0
      ? [[{ kind: "scheduled" }, "Scheduled messages", "clock", 0] as [Place, string, IconName, number]]
      : []),
  ];
  const totals: Readonly<Record<string, number>> = {
    "Starred messages": starred.value.size,
    Drafts: drafts.value.length,
    "Scheduled messages": scheduled.value.length,
  };
  return (
    <div class="rows">
      {rows.map(([target, label, icon, count]) => (
        <div class="row-box" key={label}>
          <Row target={target} label={label} icon={icon} count={count} isCurrent={isAt(target)} />
          {(totals[label] ?? 0) > 0 ? <span class="total">{totals[label]}</span> : null}
        </div>
      ))}
    </div>
  );
}

function SectionHead({ name, label, children }: { name: string; label: string; children?: preact.ComponentChildren }) {
  const isClosed = closedSections.value.has(name);
  return (
    <div class="section-head">
      <button
        type="button"
        class="section-toggle"
        aria-expanded={!isClosed}
        onClick={() => {
          closedSections.value = toggled(closedSections.peek(), name);
        }}
      >
        <Icon name={isClosed ? "right" : "down"} size={12} />
        {label}
      </button>
      {children}
    </div>
  );
}

function Directs() {
  const unreadByKey = unread.value;
  const known = [...directs.value].sort((a, b) => b.max_message_id - a.max_message_id);
  const rows = known.map(({ user_ids: ids }) => ({ ids, count: unreadByKey.get(ids.join())?.length ?? 0 }));
  const shown = rows
    .filter(({ ids }) => !isDirectMuted(ids) || isAt(directPlace(ids)))
    .filter(({ count, ids }, index) => index < directsShownMax || count > 0 || isAt(directPlace(ids)));
  return (
    <section class="section" aria-label="Direct messages">
      <SectionHead name="directs" label="Direct messages">
        <a
          class="section-action"
          href={hrefOf(stateNarrow("dm"))}
          aria-label="All direct messages"
          title="All direct messages"
        >
          <Icon name="feed" size={14} />
        </a>
      </SectionHead>
      {closedSections.value.has("directs") ? null : (
        <div class="rows">
          {shown.map(({ ids, count }) => (
            <Row
              key={ids.join()}
              target={directPlace(ids)}
              label={ids.length === 0 ? `${nameOf(myId.value)} (you)` : ids.map(nameOf).join(", ")}
              count={count}
              isCurrent={isAt(directPlace(ids))}
              before={
                <span class="direct-mark">
                  <DirectMark ids={ids} />
                </span>
              }
            />
          ))}
          {rows.length === 0 ? <p class="hint">Pick a person on the right to write to them.</p> : null}
        </div>
      )}
    </section>
  );
}

function DirectMark({ ids }: { readonly ids: readonly number[] }) {
  const person = ids.length < 2 ? people.value.get(ids[0] ?? myId.value) : undefined;
  return person === undefined ? <Icon name="people" size={14} /> : <PresenceDot person={person} />;
}

function directPlace(ids: readonly number[]): Place {
  return directNarrow(ids.length === 0 ? [myId.value] : ids);
}

function Topics({ channelId }: { readonly channelId: number }) {
  useEffect(() => {
    fetchTopics(channelId).catch(() => undefined);
  }, [channelId, topicChanges.value]);
  const unreadTopics = unreadPlaces.value.byChannel.get(channelId) ?? [];
  const counts = new Map(unreadTopics.map(({ topic, ids }) => [topic, ids.length]));
  const newestUnread = new Map(unreadTopics.map(({ topic, ids }) => [topic, ids.at(-1)]));
  const names = [...knownTopics(channelId)];
  const isListed = new Set(names);
  for (const { topic } of unreadTopics) if (!isListed.has(topic)) names.push(topic);
  const now =
    place.value.kind === "narrow" && channelOf(place.value.terms) === channelId ? topicOf(place.value.terms) : null;
  const isAll = allTopics.value.has(channelId);
  const isShown = (name: string, index: number) =>
    isAll || index < topicsShownMax || name === now || (counts.get(name) ?? 0) > 0;
  const shown = names.filter(isShown).slice(0, isAll ? 500 : 40);
  return (
    <div class="topics">
      {shown.map((topic) => (
        <Row
          key={topic}
          class={topicPolicy(channelId, topic) === 3 ? "topic followed" : "topic"}
          target={withMessage(topicNarrow(channelId, topic), newestUnread.get(topic) ?? newestOf(channelId, topic))}
          label={topicLabel(topic)}
          count={counts.get(topic) ?? 0}
          isQuiet={isTopicMuted(channelId, topic)}
          isCurrent={now !== null && now.toLowerCase() === topic.toLowerCase()}
        />
      ))}
      {names.length > shown.length ? (
        <button
          type="button"
          class="row more"
          onClick={() => {
            allTopics.value = toggled(allTopics.peek(), channelId);
          }}
        >
          Show all topics
        </button>
      ) : null}
    </div>
  );
}

function ChannelRow({ channelId }: { readonly channelId: number }) {
  const channel = channels.value.get(channelId);
  if (channel === undefined) return null;
  const topics = unreadPlaces.value.byChannel.get(channelId) ?? [];
  const count = topics.reduce((sum, { topic, ids }) => sum + (isTopicMuted(channelId, topic) ? 0 : ids.length), 0);
  const isHere = place.value.kind === "narrow" && channelOf(place.value.terms) === channelId;
  const isOpen = opened.value.has(channelId) || isHere;
  const icon = channel.invite_only ? "lock" : channel.is_web_public ? "globe" : "hash";
  const color = "color" in channel ? channel.color : undefined;
  return (
    <div class="channel">
      <div class="channel-line">
        <button
          type="button"
          class="expand"
          aria-label={`Topics of ${channel.name}`}
          aria-expanded={isOpen}
          onClick={() => {
            opened.value = toggled(opened.peek(), channelId);
          }}
        >
          <Icon name={isOpen ? "down" : "right"} size={12} />
        </button>
        <Row
          target={channelNarrow(channelId)}
          label={channel.name}
          count={count}
          isQuiet={mutedChannels.value.has(channelId)}
          isCurrent={isHere && place.value.kind === "narrow" && place.value.terms.length === 1}
          before={
            <span
              class="channel-mark"
              ref={(element) => element?.style.setProperty("--own", typeof color === "string" ? color : "")}
            >
              <Icon name={icon} size={15} />
            </span>
          }
        />
      </div>
      {isOpen ? <Topics channelId={channelId} /> : null}
    </div>
  );
}

interface Section {
  readonly name: string;
  readonly label: string;
  readonly ids: readonly number[];
}

function sections(): readonly Section[] {
  const live = subscriptions.value.filter(({ is_archived: isArchived }) => !isArchived);
  const sorted = [...live].sort((a, b) => a.name.localeCompare(b.name));
  const idsOf = (keep: (one: (typeof live)[number]) => boolean) => sorted.filter(keep).map(({ stream_id: id }) => id);
  const byFolder = folders.value.filter(({ is_archived: isArchived }) => !isArchived).sort((a, b) => a.order - b.order);
  const isKnown = new Set(byFolder.map(({ id }) => id));
  const isLoose = (folder: number | null) => folder === null || !isKnown.has(folder);
  return [
    { name: "pinned", label: "Pinned", ids: idsOf(({ pin_to_top: isPinned }) => isPinned) },
    ...byFolder.map(({ id, name }) => ({
      name: `folder-${id}`,
      label: name,
      ids: idsOf((one) => one.folder_id === id && !one.pin_to_top),
    })),
    { name: "channels", label: "Channels", ids: idsOf((one) => isLoose(one.folder_id) && !one.pin_to_top) },
  ].filter(({ name, ids }) => ids.length > 0 || name === "channels");
}

export function LeftBar() {
  return (
    <nav class={`left-bar ${isLeftOpen.value ? "open" : ""}`} aria-label="Conversations">
      <Views />
      <Directs />
      {sections().map(({ name, label, ids }) => (
        <section class="section" key={name} aria-label={label}>
          <SectionHead name={name} label={label}>
            {name === "channels" ? (
              <button
                type="button"
                class="section-action"
                aria-label="Browse and create channels"
                title="Browse and create channels"
                onClick={() => go({ kind: "channels", section: "" })}
              >
                <Icon name="plus" size={14} />
              </button>
            ) : null}
          </SectionHead>
          {closedSections.value.has(name) ? null : ids.map((id) => <ChannelRow channelId={id} key={id} />)}
        </section>
      ))}
      {chat.value !== null && subscriptions.value.length === 0 ? <p class="hint">You are in no channel yet.</p> : null}
    </nav>
  );
}
