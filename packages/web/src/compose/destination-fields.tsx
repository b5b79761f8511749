/** Where a message goes: a channel and a topic, or people. */
import { useState } from "preact/hooks";
import type { Destination } from "../pending.ts";
import { channelOf } from "../state/narrow.ts";
import { activeUsers, channelName, chat, place, subscriptions, topicLabel } from "../store.ts";
import { fetchTopics, knownTopics } from "../topics.ts";
import { IconButton } from "../views/parts.tsx";
import { PersonPicker } from "../views/person-picker.tsx";
import { closeCompose } from "./compose-actions.ts";
import { composing, setDestination } from "./compose-state.ts";

function channelHere(): number | null {
  const now = place.peek();
  return now.kind === "narrow" ? channelOf(now.terms) : null;
}

export function DestinationFields({ isHere }: { readonly isHere: boolean }) {
  const { to } = composing.value;
  const kind = to?.kind ?? "topic";
  const setKind = (next: Destination["kind"]) => {
    const channelId = channelHere();
    if (next === "direct") setDestination({ kind: "direct", userIds: [] });
    else setDestination(channelId === null ? null : { kind: "topic", channelId, topic: "" });
  };
  return (
    <div class={`destination ${isHere ? "here" : ""}`}>
      <label class="sr-only" for="destination-kind">
        Send to
      </label>
      <select
        id="destination-kind"
        value={kind}
        onChange={(event) => setKind(event.currentTarget.value === "direct" ? "direct" : "topic")}
      >
        <option value="topic">Channel</option>
        <option value="direct">People</option>
      </select>
      {to?.kind === "direct" ? (
        <PersonPicker
          label="To"
          users={activeUsers.value}
          chosen={to.userIds}
          onChange={(userIds) => setDestination({ kind: "direct", userIds })}
        />
      ) : (
        <TopicFields to={to} />
      )}
      <IconButton icon="close" label="Close (Escape). The text becomes a draft" onClick={() => closeCompose()} />
    </div>
  );
}

/** The channel that is chosen when an answer comes. */
function channelOfForm(): number | null {
  const { to } = composing.peek();
  return to?.kind === "topic" ? to.channelId : channelHere();
}

function TopicFields({ to }: { readonly to: Extract<Destination, { kind: "topic" }> | null }) {
  const [topics, setTopics] = useState<readonly string[]>([]);
  const channelId = to?.channelId ?? channelHere();
  const offer = () => {
    if (channelId === null) return;
    setTopics(knownTopics(channelId));
    // Those that are known may have been renamed while nobody looked.
    fetchTopics(channelId).then(
      () => channelOfForm() === channelId && setTopics(knownTopics(channelId)),
      () => undefined,
    );
  };
  return (
    <>
      <select
        aria-label="Channel"
        value={channelId ?? ""}
        onChange={(event) => {
          setTopics([]);
          setDestination({ kind: "topic", channelId: Number(event.currentTarget.value), topic: to?.topic ?? "" });
        }}
      >
        {subscriptions.value.some(({ stream_id: id }) => id === channelId) ? null : (
          <option value={channelId ?? ""}>{channelId === null ? "Choose a channel" : channelName(channelId)}</option>
        )}
        {[...subscriptions.value]
          .sort((a, b) => a.name.localeCompare(b.name))
          .map(({ stream_id: id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
      </select>
      <input
        class="topic-input"
        aria-label="Topic"
        placeholder={`Topic (${topicLabel("")})`}
        value={to?.topic ?? ""}
        disabled={channelId === null}
        maxLength={chat.value?.max_topic_length ?? 60}
        list="topics-known"
        onFocus={offer}
        onInput={(event) => {
          if (channelId !== null) setDestination({ kind: "topic", channelId, topic: event.currentTarget.value });
        }}
      />
      <datalist id="topics-known">
        {topics.slice(0, 50).map((topic) => (
          <option key={topic} value={topic} />
        ))}
      </datalist>
    </>
  );
}
