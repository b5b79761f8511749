/** The keys of the page, as one table (those of Zulip). Text fields keep their own keys, except Escape. */

import type { Message } from "../../client/src/api/index.ts";
import {
  conversationOf,
  copyText,
  editing,
  linkTo,
  messageDialog,
  thumbsUp,
  toggleReaction,
  toggleStar,
  toggleTopicMuted,
} from "./actions.ts";
import { closeCompose } from "./compose/compose-actions.ts";
import { composing, destinationOf, isComposeOpen, openCompose } from "./compose/compose-state.ts";
import { quote } from "./compose/quotes.ts";
import { cancelEdit } from "./edits.ts";
import { returnFocus } from "./focus.ts";
import { isForInputMethod } from "./input-methods.ts";
import { go } from "./navigation.ts";
import { attempt } from "./notices.ts";
import { canDelete, canEdit, canMove } from "./permissions.ts";
import { markUnreadFrom } from "./reading.ts";
import {
  channelNarrow,
  channelOf,
  directNarrow,
  directOf,
  feed,
  inbox,
  narrowKey,
  type Place,
  stateNarrow,
} from "./state/narrow.ts";
import { chat, messages, place } from "./store.ts";
import { nextUnread } from "./unread-order.ts";
import { cursor } from "./views/feed.tsx";
import { holdKey } from "./views/held-keys.ts";
import type { Shortcut } from "./views/keyboard-help.tsx";
import { isLeftOpen } from "./views/left-bar.tsx";
import { closeOpened, isHelpOpen, openPerson } from "./views/opened.ts";
import { isRightOpen, leaveSides } from "./views/right-bar.tsx";
import { searchFocus } from "./views/top-bar.tsx";

/** @returns null while the list of the place has not come, too: no key acts on what nobody sees */
function selected(): Message | null {
  const id = cursor.peek();
  const now = place.peek();
  if (id === null || now.kind !== "narrow") return null;
  const list = messages.peek().lists.get(narrowKey(now.terms));
  return list?.ids.includes(id) === true ? (messages.peek().byId.get(id) ?? null) : null;
}

const withMessage = (run: (message: Message) => unknown) => () => {
  const message = selected();
  return message === null ? false : run(message);
};

function moveFocus(rows: readonly HTMLElement[], to: number): void {
  const row = rows[Math.max(0, Math.min(rows.length - 1, to))];
  if (row === undefined) return;
  row.focus({ preventScroll: true });
  // Of a message that is longer than the window its beginning.
  const isLong = row.offsetHeight > (row.closest(".feed")?.clientHeight ?? Number.POSITIVE_INFINITY);
  row.scrollIntoView({ block: isLong ? "start" : "nearest" });
}

/** Moves between messages, or between the lines of a list. */
function step(by: number): unknown {
  const rows = [...document.querySelectorAll<HTMLElement>(".feed .message[data-id]")];
  if (rows.length === 0) {
    const lines = [...document.querySelectorAll<HTMLElement>("main .inbox-link, main .card button.primary")];
    if (lines.length === 0) return false;
    const at = lines.indexOf(document.activeElement as HTMLElement);
    return moveFocus(lines, at < 0 ? 0 : at + by);
  }
  const at = rows.findIndex((row) => Number(row.dataset["id"]) === cursor.peek());
  const next = rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? rows.length - 1 : at + by))];
  cursor.value = Number(next?.dataset["id"]);
  // At once: a frame later the focus may already belong to the text that the next key began.
  moveFocus(rows, rows.indexOf(next as HTMLElement));
  return undefined;
}

function scrollBy(share: number): unknown {
  const box = document.querySelector<HTMLElement>(".feed, .page-scroll");
  if (box === null) return false;
  box.scrollBy({ top: box.clientHeight * share });
  return undefined;
}

function reply(): unknown {
  const message = selected();
  const now = place.peek();
  if (message === null && destinationOf(now) === null) return false;
  return openCompose({ to: message === null ? now : conversationOf(message, null) });
}

function narrowTo(make: (message: Message) => Place) {
  return withMessage((message) => go(make(message)));
}

function isTyped(element: Element | null): boolean {
  return (
    element instanceof HTMLElement && (element.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(element.tagName))
  );
}

/** Escape closes what is open, from the inside out. */
function closeInnermost(): unknown {
  if (closeOpened()) return undefined;
  if (messageDialog.peek() !== null) {
    messageDialog.value = null;
    return undefined;
  }
  if (leaveSides()) return undefined;
  if (editing.peek() !== null) {
    cancelEdit();
    return undefined;
  }
  if (isTyped(document.activeElement)) {
    (document.activeElement as HTMLElement).blur();
    returnFocus();
    return undefined;
  }
  if (isComposeOpen.peek()) return closeCompose();
  return go(inbox);
}

function goToNext(isDirect: boolean): unknown {
  const next = nextUnread(isDirect);
  if (next === null) return false;
  return go(next);
}

export const shortcuts: readonly Shortcut[] = [
  { keys: ["/", "Ctrl+k"], run: () => searchFocus.value++ },
  { keys: ["I"], run: () => go(inbox) },
  { keys: ["t"], run: () => go({ kind: "recent" }) },
  { keys: ["a"], run: () => go(feed) },
  { keys: ["*"], run: () => go(stateNarrow("starred")) },
  { keys: ["@"], run: () => go(stateNarrow("mentioned")) },
  { keys: ["P"], run: () => go(stateNarrow("dm")) },
  { keys: ["d"], run: () => go({ kind: "drafts" }) },
  { keys: ["n"], run: () => goToNext(false) },
  { keys: ["p"], run: () => goToNext(true) },
  { keys: ["s"], run: narrowTo((one) => conversationOf(one)) },
  {
    keys: ["S"],
    run: narrowTo((one) => (one.stream_id === undefined ? conversationOf(one) : channelNarrow(one.stream_id))),
  },
  { keys: ["j", "ArrowDown"], run: () => step(1) },
  { keys: ["k", "ArrowUp"], run: () => step(-1) },
  { keys: ["J", "PageDown", " "], run: () => scrollBy(0.85) },
  { keys: ["K", "PageUp"], run: () => scrollBy(-0.85) },
  { keys: ["Home"], run: () => step(-Infinity) },
  { keys: ["End", "G"], run: goToEnd },
  { keys: ["r", "Enter"], run: reply },
  { keys: [">"], run: withMessage(quote) },
  { keys: ["R"], run: withMessage((one) => openCompose({ to: directNarrow([one.sender_id]) })) },
  { keys: ["+"], run: withMessage((one) => toggleReaction(one, thumbsUp)) },
  { keys: [":"], run: withMessage((one) => dialog("react", one)) },
  { keys: ["Ctrl+s"], run: withMessage(toggleStar) },
  {
    keys: ["e"],
    run: withMessage((one) => {
      if (!canEdit(one)) return false;
      editing.value = one.id;
      return undefined;
    }),
  },
  { keys: ["m"], run: withMessage((one) => canMove(one) && dialog("move", one)) },
  { keys: ["H"], run: withMessage((one) => dialog("history", one)) },
  { keys: ["V"], run: withMessage((one) => dialog("receipts", one)) },
  {
    keys: ["U"],
    run: withMessage((one) => {
      const now = place.peek();
      if (now.kind !== "narrow") return false;
      return attempt("The messages were not marked", () => markUnreadFrom(one.id, now.terms));
    }),
  },
  { keys: ["L"], run: withMessage((one) => copyText(linkTo(one), "The link is copied.")) },
  { keys: ["Delete"], run: withMessage((one) => canDelete(one) && dialog("delete", one)) },
  { keys: ["u"], run: withMessage((one) => openPerson(one.sender_id)) },
  {
    keys: ["M"],
    run: withMessage(
      ({ stream_id: channelId, subject }) => channelId !== undefined && toggleTopicMuted(channelId, subject),
    ),
  },
  { keys: ["i"], run: withMessage(openMenu) },
  { keys: ["c"], run: writeToChannel },
  { keys: ["x"], run: writeDirect },
  { keys: ["w"], run: findPeople },
  { keys: ["q"], run: focusLeft },
  {
    keys: ["?"],
    run: () => {
      isHelpOpen.value = true;
    },
  },
  { keys: ["Escape"], run: closeInnermost },
];

function goToEnd(): unknown {
  const button = document.querySelector<HTMLElement>(".to-end");
  button?.click();
  return step(Number.POSITIVE_INFINITY);
}

function dialog(kind: "react" | "move" | "history" | "receipts" | "delete", message: Message): void {
  messageDialog.value = { kind, message };
}

function openMenu(message: Message): void {
  document
    .querySelector<HTMLElement>(`[data-id="${message.id}"] .message-actions .icon-more`)
    ?.closest("button")
    ?.click();
}

function writeToChannel(): void {
  const now = place.peek();
  if (now.kind === "narrow" && channelOf(now.terms) !== null) openCompose({ to: now });
  else openCompose(composing.peek().text === "" ? { to: null } : {});
}

function writeDirect(): void {
  const now = place.peek();
  const userIds = now.kind === "narrow" ? directOf(now.terms) : null;
  openCompose({ to: { kind: "direct", userIds: userIds ?? [] } });
  if (userIds === null || userIds.length === 0) {
    focusWhenShown(".destination .person-picker input");
  }
}

function findPeople(): void {
  isRightOpen.value = true;
  focusWhenShown("#people-filter");
}

function focusLeft(): void {
  isLeftOpen.value = true;
  focusWhenShown(".left-bar .row");
}

/** What a change of state shows is there after this task, and before the next key. */
function focusWhenShown(selector: string): void {
  queueMicrotask(() => document.querySelector<HTMLElement>(selector)?.focus());
}

/** A key that opens a place leaves the bars at its sides: the next key is for the place. */
function leaveBars(): void {
  if (document.activeElement?.closest(".left-bar, .right-bar, .top-bar") == null) return;
  document.getElementById("main")?.focus({ preventScroll: true });
}

const runs = new Map<string, Shortcut["run"]>(
  shortcuts.flatMap(({ keys, run }) => keys.map((key) => [key, run] as const)),
);

export function watchKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || isForInputMethod(event) || event.altKey || chat.peek() === null) return;
    const isCommand = event.ctrlKey || event.metaKey;
    const name = `${isCommand ? "Ctrl+" : ""}${event.key}`;
    const target = event.target instanceof Element ? event.target : null;
    if (document.querySelector("dialog[open]") !== null) return;
    if (holdKey(event)) {
      event.preventDefault();
      return;
    }
    if (isTyped(target) && event.key !== "Escape") return;
    const isControl = target?.closest("button, a, summary, [role=menu]") != null;
    if (isControl && (event.key === "Enter" || event.key === " ")) return;
    const run = runs.get(name);
    if (run === undefined) return;
    const before = place.peek();
    if (run() === false) return;
    if (place.peek() !== before) leaveBars();
    event.preventDefault();
  });
  // The focus and the cursor are one: a message that is focused by Tab or by a click is the selected one.
  document.addEventListener("focusin", (event) => {
    const row = event.target instanceof Element ? event.target.closest<HTMLElement>(".feed [data-id]") : null;
    if (row !== null) cursor.value = Number(row.dataset["id"]);
  });
}
