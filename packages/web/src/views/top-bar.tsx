/** The top of the page: the organization, search with suggestions, the person's own menu. */
import { signal } from "@preact/signals";
import { useRef, useState } from "preact/hooks";
import { returnFocus } from "../focus.ts";
import { isForInputMethod } from "../input-methods.ts";
import { go, hrefOf } from "../navigation.ts";
import { narrow, type Place, placeOf } from "../state/narrow.ts";
import { termsOfText, textOfTerms } from "../state/search.ts";
import type { Suggestion } from "../state/suggestions.ts";
import { activeUsers, channels, chat, formerUsers, myId, people, place, topicLabel, topicNamed } from "../store.ts";
import { knownTopics } from "../topics.ts";
import { Icon } from "./icon.tsx";
import { OwnMenu, peekLater } from "./lazy-views.ts";
import { isLeftOpen } from "./left-bar.tsx";
import { Avatar, IconButton } from "./parts.tsx";
import { isRightOpen } from "./right-bar.tsx";

/** Rises when the search should take the focus. */
export const searchFocus = signal(0);

const names = {
  nameOfUser: (id: number) => people.peek().get(id)?.full_name,
  nameOfChannel: (id: number) => channels.peek().get(id)?.name,
  /** The first of namesakes is meant, so those who are here precede those who were. */
  get users() {
    return [...activeUsers.peek(), ...formerUsers.peek()];
  },
  get channels() {
    return [...channels.peek().values()];
  },
  topicsOf: knownTopics,
  topicLabel,
  topicNamed,
};

/** In an address `near` is no term, but where the place opens. */
function placeOfText(text: string): Place | null {
  const terms = termsOfText(text, names);
  return terms.length === 0 ? null : placeOf(hrefOf(narrow(terms)));
}

function Search() {
  const [text, setText] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const isTyped = useRef(false);
  const focus = searchFocus.value;
  const seen = useRef(0);
  if (focus !== seen.current) {
    seen.current = focus;
    queueMicrotask(() => {
      input.current?.focus();
      input.current?.select();
    });
  }
  const now = place.value;
  const shown = text ?? (now.kind === "narrow" ? textOfTerms(now.terms, names) : "");
  const offered: readonly Suggestion[] = text === null ? [] : (peekLater()?.suggestionsFor(text, names) ?? []);
  const run = (wanted: string) => {
    setText(null);
    input.current?.blur();
    const target = placeOfText(wanted);
    if (target !== null) go(target);
  };
  const choose = ({ text: next, isDone }: Suggestion) => {
    setAt(0);
    if (isDone) run(next);
    else setText(next);
  };
  const press = (event: KeyboardEvent) => {
    if (isForInputMethod(event)) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = offered[at];
    // Tab takes the suggestion that arrows chose, or completes an operator; otherwise it leads on, as everywhere.
    const completed = at > 0 ? chosen : offered.find(({ isDone }) => !isDone);
    if (step !== undefined && offered.length > 0) setAt((at + step + offered.length) % offered.length);
    else if (event.key === "Tab" && !event.shiftKey && isTyped.current && completed !== undefined) choose(completed);
    else if (event.key === "Enter") {
      if (at > 0 && chosen !== undefined) choose(chosen);
      else run(shown);
    } else if (event.key === "Escape") {
      setText(null);
      returnFocus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <search class="search">
      <Icon name="search" size={16} />
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="Search messages"
        aria-expanded={offered.length > 0}
        aria-controls="search-suggestions"
        aria-autocomplete="list"
        aria-activedescendant={offered.length > 0 ? `search-${at}` : undefined}
        placeholder="Search"
        autocomplete="off"
        value={shown}
        onFocus={() => {
          isTyped.current = false;
          setText(text ?? shown);
        }}
        onBlur={() => setText(null)}
        onInput={(event) => {
          isTyped.current = true;
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <div
        class="suggestions"
        id="search-suggestions"
        role="listbox"
        aria-label="Suggestions"
        hidden={offered.length === 0}
      >
        {offered.map((suggestion, index) => (
          <div
            key={suggestion.text}
            id={`search-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            class={index === at ? "chosen" : ""}
            onPointerDown={(event) => {
              event.preventDefault();
              choose(suggestion);
            }}
          >
            <span class="suggestion-text">{suggestion.text}</span>
            <span class="quiet">{suggestion.note}</span>
          </div>
        ))}
      </div>
    </search>
  );
}

export function TopBar() {
  const [isOpen, setOpen] = useState(false);
  return (
    <header class="top-bar">
      <IconButton
        icon="menu"
        label="Conversations"
        class="for-narrow"
        isPressed={isLeftOpen.value}
        onClick={() => {
          isLeftOpen.value = !isLeftOpen.peek();
          isRightOpen.value = false;
        }}
      />
      <a class="organization" href="#inbox">
        {chat.value?.realm_name ?? "Colloquy"}
      </a>
      <Search />
      <IconButton
        icon="people"
        label="People"
        isPressed={isRightOpen.value}
        onClick={() => {
          isRightOpen.value = !isRightOpen.peek();
          isLeftOpen.value = false;
        }}
      />
      <div class="menu-box">
        <button type="button" class="own-button" aria-label="Your account" onClick={() => setOpen(!isOpen)}>
          <Avatar userId={myId.value} />
        </button>
        {isOpen ? <OwnMenu onClose={() => setOpen(false)} /> : null}
      </div>
    </header>
  );
}
