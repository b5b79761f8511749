/** The top of the page: the organization, search with suggestions, the person's own menu. */
import { signal } from "@preact/signals";
import { useRef, useState } from "preact/hooks";
import { client } from "../api.ts";
import { disconnect } from "../connection.ts";
import { returnFocus } from "../focus.ts";
import { isForInputMethod } from "../input-methods.ts";
import { go } from "../navigation.ts";
import { attempt, complain } from "../notices.ts";
import { logOut } from "../session.ts";
import { termsOfText, textOfTerms } from "../state/search.ts";
import type { Suggestion } from "../state/suggestions.ts";
import {
  activeUsers,
  channels,
  chat,
  formerUsers,
  isAdministrator,
  me,
  myId,
  people,
  place,
  settings,
  topicLabel,
  topicNamed,
} from "../store.ts";
import { knownTopics } from "../topics.ts";
import { Icon } from "./icon.tsx";
import { peekLater } from "./lazy-views.ts";
import { isLeftOpen } from "./left-bar.tsx";
import { isHelpOpen, openPerson } from "./opened.ts";
import { Avatar, IconButton, Menu } from "./parts.tsx";
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
    const terms = termsOfText(wanted, names);
    setText(null);
    input.current?.blur();
    if (terms.length > 0) go({ kind: "narrow", terms, near: null });
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

/** 1 follows the system, 2 is dark, 3 is light. */
const nextScheme = { 1: 2, 2: 3, 3: 1 } as const;
const schemeNames = { 1: "Theme: as the system", 2: "Theme: dark", 3: "Theme: light" } as const;

function OwnMenu({ onClose }: { readonly onClose: () => void }) {
  const scheme = settings.value?.color_scheme ?? 1;
  const isShown = settings.value?.presence_enabled !== false;
  const save = (change: Parameters<typeof client.call<"PATCH /settings">>[1]) =>
    attempt("The setting was not saved", () => client.call("PATCH /settings", change ?? {}));
  const leave = async () => {
    try {
      disconnect();
      await logOut();
      chat.value = null;
    } catch (error) {
      complain("You were not logged out", error);
    }
  };
  return (
    <Menu
      label="Account"
      onClose={onClose}
      items={[
        { label: me.value?.full_name ?? "You", run: () => openPerson(myId.peek()) },
        { label: "Settings", run: () => go({ kind: "settings", section: "profile" }) },
        { label: "Channels", run: () => go({ kind: "channels", section: "" }) },
        { label: "Groups", run: () => go({ kind: "groups", section: "" }) },
        {
          label: isAdministrator.value ? "Organization" : "Organization and people",
          run: () => go({ kind: "organization", section: "people" }),
        },
        { label: schemeNames[scheme], run: () => save({ color_scheme: nextScheme[scheme] }) },
        {
          label: isShown ? "Go invisible" : "Show that I am here",
          run: () => save({ presence_enabled: !isShown }),
        },
        {
          label: "Keyboard shortcuts",
          keys: "?",
          run: () => {
            isHelpOpen.value = true;
          },
        },
        { label: "Log out", run: leave },
      ]}
    />
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
