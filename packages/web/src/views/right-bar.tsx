/** The right side: people, those who are here first. */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { best } from "../compose/completion.ts";
import { returnFocus } from "../focus.ts";
import { addLayer, hrefOf } from "../navigation.ts";
import { directNarrow } from "../state/narrow.ts";
import { activeUsers, myId, type Person, statuses, unread } from "../store.ts";
import { Icon } from "./icon.tsx";
import { isLeftOpen } from "./left-bar.tsx";
import { openPerson } from "./opened.ts";
import { Avatar, PresenceDot, presenceOf } from "./parts.tsx";

export const isRightOpen = signal(matchMedia("(min-width: 1100px)").matches);

/** Whether lists lie over the page (frame.css). */
const isOver = () => innerWidth <= 1_000;

/**
 * Closes the lists that lie over the page.
 * @returns whether one was open
 */
export function closeSides(): boolean {
  const wasOpen = isLeftOpen.peek() || (isOver() && isRightOpen.peek());
  isLeftOpen.value = false;
  if (isOver()) isRightOpen.value = false;
  return wasOpen;
}

/** The same, and the focus is not lost with the list. */
export function leaveSides(): boolean {
  const wasOpen = closeSides();
  if (wasOpen) returnFocus();
  return wasOpen;
}

export function Veil() {
  useLayoutEffect(() => (isOver() ? addLayer(leaveSides) : undefined), []);
  return <button type="button" class="veil" aria-label="Close the list" onClick={leaveSides} />;
}

/** People that are rendered at first, and with each further step. */
const stepPeople = 200;
const ranks = { active: 0, idle: 1, offline: 2 } as const;

function PersonRow({ person }: { readonly person: Person }) {
  const { user_id: userId, full_name: name } = person;
  const count = unread.value.get(userId === myId.value ? "" : String(userId))?.length ?? 0;
  const status = statuses.value[String(userId)]?.status_text;
  return (
    <li class={`person ${presenceOf(userId)}`}>
      <a class="row" href={hrefOf(directNarrow([userId]))} title={`Direct messages with ${name}`}>
        <span class="avatar-box">
          <Avatar userId={userId} size="small" />
          <PresenceDot person={person} />
        </span>
        <span class="row-label">
          {name}
          {userId === myId.value ? <span class="quiet"> (you)</span> : null}
          {status === undefined ? null : <span class="status">{status}</span>}
        </span>
        {count === 0 ? null : <span class="count">{count}</span>}
      </a>
      <button
        type="button"
        class="icon-button"
        aria-label={`About ${name}`}
        title={`About ${name}`}
        onClick={() => openPerson(userId)}
      >
        <Icon name="more" size={16} />
      </button>
    </li>
  );
}

export function RightBar() {
  const [query, setQuery] = useState("");
  const [shownMax, setShownMax] = useState(stepPeople);
  const list = useRef<HTMLUListElement>(null);
  // The button may be gone, so the focus goes on to the first of those that it has shown, before the next key.
  useLayoutEffect(() => {
    if (shownMax > stepPeople) list.current?.children[shownMax - stepPeople]?.querySelector("a")?.focus();
  }, [shownMax]);
  if (!isRightOpen.value) return null;
  const rank = (person: Person) => (person.is_bot ? 3 : ranks[presenceOf(person.user_id)]);
  const sorted = [...activeUsers.value].sort((a, b) => rank(a) - rank(b) || a.full_name.localeCompare(b.full_name));
  const found = query === "" ? sorted : best(sorted, ({ full_name: name }) => name, query, sorted.length);
  const shown = found.slice(0, shownMax);
  const left = found.length - shown.length;
  return (
    <>
      <Veil />
      <aside class="right-bar" aria-label="People">
        <div class="right-head">
          <h2>People</h2>
          <span class="quiet">{activeUsers.value.length}</span>
        </div>
        <input
          type="search"
          class="filter"
          id="people-filter"
          aria-label="Find people"
          placeholder="Find people (w)"
          value={query}
          onInput={(event) => {
            setQuery(event.currentTarget.value);
            setShownMax(stepPeople);
          }}
        />
        <ul class="people" ref={list}>
          {shown.map((person) => (
            <PersonRow key={person.user_id} person={person} />
          ))}
        </ul>
        {found.length === 0 ? <p class="hint">Nobody has this name.</p> : null}
        {left === 0 ? null : (
          <p class="hint">
            And {left} more: find them by name, or{" "}
            <button type="button" class="text-button" onClick={() => setShownMax(shownMax + stepPeople)}>
              show {Math.min(left, stepPeople)} more
            </button>
          </p>
        )}
      </aside>
    </>
  );
}
