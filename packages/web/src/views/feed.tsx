/** The list of messages: opens at the first unread one, grows at both ends, and keeps its place when it changes. */
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Message } from "../../../client/src/api/index.ts";
import { conversationKey } from "../../../client/src/state/index.ts";
import { editing } from "../actions.ts";
import { explain } from "../api.ts";
import { sentCount } from "../compose/compose-state.ts";
import { extendList, openList } from "../fetching.ts";
import { returnFocus } from "../focus.ts";
import { pending } from "../pending.ts";
import type { MessagePosition } from "../positions.ts";
import { type MessageList, messagesOf, withoutList } from "../state/message-lists.ts";
import {
  directOf,
  followsEvents,
  isConversation,
  memberOf,
  type NarrowPlace,
  narrowKey,
  type Term,
  topicOf,
} from "../state/narrow.ts";
import { isDirectMuted, messages, mutedPeople, myId, othersOf, reader, unreadIds } from "../store.ts";
import { dayOf, startOfDay } from "../time.ts";
import { isKnownIn } from "../topics.ts";
import { ConversationHead } from "./conversation-head.tsx";
import { MessageRow, PendingRow } from "./message-row.tsx";
import { useResumed } from "./resuming.ts";
import { Scroller, topMessage } from "./scroller.ts";
import { useActivity, useScrolling } from "./scrolling.ts";
import { ToEnd } from "./to-end.tsx";

/** The message that keys act on. */
export const cursor = signal<number | null>(null);

/** The message below the pointer. */
const hovered = signal<number | null>(null);
/** While the list scrolls, messages pass below the pointer that nobody points at. */
const hoverMs = 50;
let hoverTimer: ReturnType<typeof setTimeout> | undefined;

function hover(event: PointerEvent): void {
  const row = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-id]") : null;
  clearTimeout(hoverTimer);
  hoverTimer = setTimeout(() => {
    hovered.value = row === null ? null : Number(row.dataset["id"]);
  }, hoverMs);
}

/** Pixels to an end at which the next page is fetched. */
const reach = 3_000;
/** The same before the person has done anything at the place: opening it fetches no more than can be seen. */
const reachAtRest = 100;
/** Seconds within which messages of one person follow without a head. */
const groupSeconds = 600;

interface RowInfo {
  readonly message: Message;
  readonly day: string | null;
  readonly startsConversation: boolean;
  readonly isCompact: boolean;
}

function layOut(list: readonly Message[], isOne: boolean): readonly RowInfo[] {
  return list.map((message, index) => {
    const before = list[index - 1];
    const isNewDay = before === undefined || startOfDay(before.timestamp) !== startOfDay(message.timestamp);
    const isSamePlace =
      before !== undefined && conversationKey(myId.value, before) === conversationKey(myId.value, message);
    const follows =
      isSamePlace &&
      !isNewDay &&
      before.sender_id === message.sender_id &&
      message.timestamp - before.timestamp < groupSeconds;
    return {
      message,
      day: isNewDay ? dayOf(message.timestamp) : null,
      startsConversation: !isOne && !isSamePlace,
      isCompact: follows && !message.is_me_message,
    };
  });
}

function Status({ problem, onRetry }: { readonly problem: string | null; readonly onRetry: () => void }) {
  if (problem === null) return <p class="waiting">Loading messages</p>;
  return (
    <div class="empty" role="alert">
      <p>The messages were not loaded. {problem}</p>
      <button type="button" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}

interface RowState {
  readonly terms: readonly Term[];
  /** The first message that was unread when the list was opened. */
  readonly isMarked: boolean;
  readonly isCursor: boolean;
  readonly isActive: boolean;
  readonly isUnread: boolean;
  readonly isEditing: boolean;
}

/** The message with the lines above it. */
function rowOf({ message, day, startsConversation, isCompact }: RowInfo, { isMarked, ...state }: RowState) {
  return [
    day === null ? null : (
      <div class="day" key={`day-${message.id}`}>
        <span>{day}</span>
      </div>
    ),
    isMarked ? (
      <div class="new-mark" key={`new-${message.id}`}>
        <span>New</span>
      </div>
    ) : null,
    startsConversation ? <ConversationHead key={`head-${message.id}`} message={message} /> : null,
    <MessageRow
      key={message.id}
      message={message}
      isCompact={isCompact && !isMarked && !startsConversation}
      {...state}
    />,
  ];
}

function emptyText(terms: readonly Term[]): string {
  if (terms.some(({ operator }) => operator === "search")) return "No message matches. Try fewer or other words.";
  if (directOf(terms) !== null) return "No messages yet. Write the first one below.";
  if (topicOf(terms) !== null) return "This topic has no messages. Write the first one below.";
  if (terms.some(({ operand }) => operand === "starred")) return "Star messages to find them here.";
  if (terms.some(({ operand }) => operand === "mentioned")) return "Messages that mention you will be here.";
  return "No messages yet.";
}

function PendingRows({ terms }: { readonly terms: readonly Term[] }) {
  const key = narrowKey(terms);
  const here = pending.value.filter(({ to }) => {
    if (terms.length === 0) return true;
    if (to.kind === "direct") {
      const operand = [...to.userIds].sort((a, b) => a - b);
      return narrowKey([{ operator: "dm", operand }]) === key;
    }
    const channel = { operator: "channel", operand: to.channelId };
    return [narrowKey([channel]), narrowKey([channel, { operator: "topic", operand: to.topic }])].includes(key);
  });
  return (
    <>
      {here.map((message) => (
        <PendingRow key={message.localId} message={message} />
      ))}
    </>
  );
}

function takeLostFocus(): void {
  const { activeElement: element } = document;
  if (element === document.body || element?.id === "main") returnFocus();
}

/** If the selected message is gone, the next one is selected, and has the focus that the other one had. */
function useCursor(shown: readonly Message[]): void {
  const wasShown = useRef(false);
  useLayoutEffect(() => {
    const id = cursor.peek();
    const isShown = shown.some((message) => message.id === id);
    if (wasShown.current && !isShown && id !== null) {
      cursor.value = (shown.find((message) => message.id > id) ?? shown.at(-1))?.id ?? null;
      requestAnimationFrame(takeLostFocus);
    }
    wasShown.current = isShown;
  }, [shown]);
}

/** The messages of a list without those of direct conversations with muted people, which have only their own list. */
function shownOf(terms: readonly Term[]): readonly Message[] {
  const all = messagesOf(messages.value, narrowKey(terms));
  if (mutedPeople.value.size === 0 || isConversation(terms)) return all;
  return all.filter((message) => !isDirectMuted(othersOf(message)));
}

/** Whether the list has what it opens at. It may be a part elsewhere in the place, where somebody was before. */
function hasStart(list: MessageList, opensAt: number | null, isUnread: ReadonlySet<number>): boolean {
  // A message that is not in the list any more has a place there, too.
  if (opensAt !== null) return list.ids.includes(opensAt) || list.anchor === opensAt;
  const first = list.ids.findIndex((id) => isUnread.has(id));
  return first === -1 ? list.foundNewest : first > 0 || list.foundOldest;
}

interface Start {
  readonly shown: readonly Message[];
  /** The first unread message. */
  readonly first: number | null;
  readonly opensAt: number | null;
  readonly back: MessagePosition | null;
}

function showStart(scroller: Scroller, { shown, first, opensAt, back }: Start): void {
  const nearest = opensAt === null ? null : (shown.find(({ id }) => id >= opensAt) ?? shown.at(-1))?.id;
  const selected = shown.find(({ id }) => id === back?.selected)?.id;
  cursor.value = selected ?? nearest ?? first ?? shown.at(-1)?.id ?? null;
  if (nearest != null && back !== null) scroller.showAt(nearest, back.offset);
  else if (nearest != null) scroller.show(nearest, 0.3);
  else if (first === null) scroller.toEnd();
  else scroller.show(first, first === shown[0]?.id ? 0.05 : 0.2);
}

/** The list of a place, and what scrolls and fetches it. */
function useFeed(target: NarrowPlace) {
  const { terms, near } = target;
  const key = narrowKey(terms);
  const box = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const scroller = useRef<Scroller | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [fetched, setFetched] = useState<{ near: number | null } | null>(null);
  const isFetched = fetched?.near === near;
  /** Each visit has a component of its own; within one, the terms change only because messages moved. */
  const opened = useRef<{ near: number | null } | null>(null);
  const back = useResumed(near, scroller, cursor);
  const opensAt = back?.id ?? near;
  const newest = useRef(0);
  const firstNew = useRef<number | null>(null);
  const list = messages.value.lists.get(key);
  const shown = shownOf(terms);
  const pendingCount = pending.value.length;
  const isUnread = unreadIds.value;
  const isActive = useActivity();
  const isReady = list !== undefined && (isFetched || hasStart(list, opensAt, isUnread));

  const open = (anchor: number | "first_unread") => {
    setProblem(null);
    openList(terms, anchor, undefined, undefined, memberOf(target)).then(
      () => setFetched({ near }),
      (error) => setProblem(explain(error)),
    );
  };
  // Opening, and fetching again what has become stale.
  useEffect(() => {
    const member = memberOf(target);
    const isHere = opened.current?.near === near;
    const isHereStill = member === null || isKnownIn(terms, member) || list?.ids.includes(member) === true;
    if (isReady && !list.isStale && isHereStill) return;
    open((isHere ? scroller.current?.nearest : null) ?? opensAt ?? "first_unread");
  }, [key, near, list?.isStale, list === undefined]);

  // Nothing says what such a list has when it is opened again.
  useEffect(
    () => () => {
      if (!followsEvents(terms, reader.peek())) messages.value = withoutList(messages.peek(), key);
    },
    [],
  );

  const extend = (side: "older" | "newer") => {
    extendList(terms, side).catch((error) => setProblem(explain(error)));
  };
  const onScroll = () => {
    const { current } = box;
    if (current === null || scroller.current === null) return;
    scroller.current.note();
    if (list === undefined || problem !== null) return;
    const most = isActive.current ? reach : reachAtRest;
    if (!list.foundOldest && current.scrollTop < most) extend("older");
    if (!list.foundNewest && current.scrollHeight - current.scrollTop - current.clientHeight < most) extend("newer");
  };

  useLayoutEffect(() => {
    const { current } = box;
    if (current === null || list === undefined) return;
    if (opened.current !== null && opened.current.near === near) scroller.current?.changed(list.foundNewest);
    else if (isReady && !list.isStale) {
      opened.current = { near };
      scroller.current = new Scroller(current, terms, list.foundNewest);
      const first = shown.find(({ id }) => isUnread.has(id))?.id ?? null;
      firstNew.current = first;
      showStart(scroller.current, { shown, first, opensAt, back });
      // A key that changes the place takes the focus away with the message that had it.
      requestAnimationFrame(takeLostFocus);
    }
    // What one has just written is what one acts on.
    const last = shown.at(-1);
    if (last !== undefined && last.id > newest.current && newest.current > 0 && last.sender_id === myId.peek()) {
      cursor.value = last.id;
    }
    newest.current = last?.id ?? 0;
    onScroll();
  }, [key, near, list, pendingCount, isFetched]);
  useScrolling(box, content, scroller);
  useCursor(shown);
  return {
    ...{ box, content, scroller, list, shown, isUnread, pendingCount, problem, open, onScroll },
    mark: firstNew.current,
  };
}

export function Feed({ target }: { readonly target: NarrowPlace }) {
  const { terms, near } = target;
  const { box, content, scroller, list, shown, isUnread, pendingCount, problem, open, onScroll, mark } =
    useFeed(target);
  const { value: at } = cursor;
  const { value: edited } = editing;
  const { value: under } = hovered;
  const isOne = isConversation(terms);
  const sent = sentCount.value;
  const sentBefore = useRef(sent);
  useEffect(() => {
    if (sent === sentBefore.current) return;
    sentBefore.current = sent;
    jumpToEnd(terms, scroller.current).catch(() => undefined);
  }, [sent]);
  return (
    <div class="feed-frame">
      {isOne ? null : <TopHead />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <section class="feed" ref={box} onScroll={onScroll} onPointerOver={hover} tabIndex={0} aria-label="Messages">
        <div ref={content}>
          {list === undefined ? <Status problem={problem} onRetry={() => open(near ?? "first_unread")} /> : null}
          {list?.foundOldest === false ? <p class="waiting">Loading older messages</p> : null}
          {list !== undefined && shown.length === 0 && pendingCount === 0 && list.foundNewest ? (
            <p class="empty">{emptyText(terms)}</p>
          ) : null}
          {layOut(shown, isOne).flatMap((row) =>
            rowOf(row, {
              terms,
              isMarked: row.message.id === mark,
              isCursor: row.message.id === at,
              isActive: row.message.id === at || row.message.id === under,
              isUnread: isUnread.has(row.message.id),
              isEditing: row.message.id === edited,
            }),
          )}
          {list === undefined || list.foundNewest ? (
            <PendingRows terms={terms} />
          ) : (
            <p class="waiting">Loading newer messages</p>
          )}
          {list !== undefined && problem !== null ? (
            <Status problem={problem} onRetry={() => open(scroller.current?.nearest ?? "first_unread")} />
          ) : null}
        </div>
      </section>
      <ToEnd
        box={box}
        isAtEnd={() => scroller.current?.isAtEnd !== false}
        isEnd={list?.foundNewest !== false}
        onEnd={() => jumpToEnd(terms, scroller.current)}
      />
    </div>
  );
}

async function jumpToEnd(terms: readonly Term[], scroller: Scroller | null): Promise<void> {
  const key = narrowKey(terms);
  scroller?.expectEnd();
  if (messages.peek().lists.get(key)?.foundNewest === false) await openList(terms, "newest").catch(() => undefined);
  // Meanwhile the person may have left.
  if (scroller?.box.isConnected !== true) return;
  cursor.value = shownOf(terms).at(-1)?.id ?? cursor.peek();
  scroller.toEnd();
  // A row of the list before, or the button that leads here, may have had it.
  requestAnimationFrame(takeLostFocus);
}

/**
 * Names the conversation whose head has been scrolled away. One line above the list costs less than sticky heads, each of
 * which is a layer of its own.
 */
function TopHead() {
  const message = messages.value.byId.get(topMessage.value ?? 0);
  return message === undefined ? null : (
    <div class="top-head">
      <ConversationHead message={message} />
    </div>
  );
}
