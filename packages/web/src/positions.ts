/** Where the person was in each entry of the tab's history, so that Back and Forward open it there. */
import { keep, readKept } from "./kept.ts";

/** The message at the top of the window, its distance to it in pixels, and the selected message. */
export interface MessagePosition {
  readonly kind: "message";
  readonly id: number;
  readonly offset: number;
  readonly selected: number | null;
}

/** How far a list without messages is scrolled, in pixels. */
export interface ListPosition {
  readonly kind: "list";
  readonly top: number;
}

export type Position = MessagePosition | ListPosition;

/** Entries whose positions are kept; the one that was left first is dropped beyond it. */
const entriesMax = 100;
const storageKey = "positions";
/** What scrolls where there is no list of messages. */
const lists = "main .page-scroll, main .panel-body";

const positions = readPositions();
let made = 0;
let entry = entryOfBrowser();
let resumed: Position | null = isBack() ? (positions.get(entry) ?? null) : null;
let readMessage: () => MessagePosition | null = () => null;

function readPositions(): Map<string, Position> {
  const value = readKept(storageKey);
  return new Map(Array.isArray(value) ? (value as [string, Position][]) : []);
}

/** The page was loaded again by Back or Forward, and not by a reload. */
function isBack(): boolean {
  const [navigation] = performance.getEntriesByType("navigation");
  return navigation instanceof PerformanceNavigationTiming && navigation.type === "back_forward";
}

interface EntryState {
  /** Its name. All entries of one visit to a place have the same. */
  readonly entry?: string;
  /** How many layers were open over the page (navigation.ts). */
  readonly layers?: number;
}

function stateOfBrowser(): EntryState | null {
  return history.state as EntryState | null;
}

/** How many layers were open in the present entry when it was made. */
export function layersOfEntry(): number {
  return stateOfBrowser()?.layers ?? 0;
}

/** An entry above the present one, for the same visit. */
export function addLayerEntry(layers: number): void {
  history.pushState({ entry, layers } satisfies EntryState, "");
}

/** The entry's name is kept by the browser. One that is new gets a name. */
function entryOfBrowser(): string {
  const kept = stateOfBrowser()?.entry;
  if (kept !== undefined) return kept;
  // Also after a reload no other entry has it.
  const name = `${performance.timeOrigin}-${made++}`;
  history.replaceState({ entry: name }, "");
  return name;
}

function listNow(): ListPosition | null {
  const list = document.querySelector(lists);
  return list === null ? null : { kind: "list", top: list.scrollTop };
}

function note(): void {
  const position = readMessage() ?? listNow();
  // What has not been shown yet is still where it was left.
  if (position === null) return;
  positions.delete(entry);
  positions.set(entry, position);
  for (const oldest of positions.keys()) {
    if (positions.size <= entriesMax) break;
    positions.delete(oldest);
  }
}

/**
 * The browser shows another entry; the page still shows the one before.
 * @returns false if both belong to one visit
 */
export function changeEntry(): boolean {
  const next = entryOfBrowser();
  if (next === entry) return false;
  note();
  entry = next;
  resumed = positions.get(entry) ?? null;
  return true;
}

/** Where the place that is opened now was left; null if it is opened by a link. */
export function resumedPosition(): Position | null {
  return resumed;
}

/** A list of messages says where it is. */
export function readPositionBy(read: typeof readMessage): () => void {
  readMessage = read;
  return () => {
    if (readMessage === read) readMessage = () => null;
  };
}

const activities = ["wheel", "touchmove", "pointerdown", "keydown"];

/**
 * A list without messages goes back to where it was, as soon as it is long enough, unless the person does something first.
 * @returns ends it
 */
export function resumeList(): () => void {
  if (resumed?.kind !== "list" || resumed.top === 0) return () => undefined;
  const { top } = resumed;
  const stop = () => {
    observer.disconnect();
    for (const name of activities) document.removeEventListener(name, stop, { capture: true });
  };
  const scroll = () => {
    const list = document.querySelector(lists);
    if (list === null) return;
    list.scrollTop = top;
    if (list.scrollTop >= top - 1) stop();
  };
  const observer = new MutationObserver(scroll);
  observer.observe(document.querySelector("main") ?? document.body, { childList: true, subtree: true });
  for (const name of activities) document.addEventListener(name, stop, { capture: true, passive: true });
  scroll();
  return stop;
}

/** Positions outlive a reload of the page. */
export function watchPositions(): void {
  addEventListener("pagehide", () => {
    note();
    keep(storageKey, [...positions]);
  });
}
