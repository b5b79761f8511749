/**
 * What a tab keeps over a reload, for the person who typed it. What is worth it when the tab is closed waits for the next
 * tab that is opened.
 */

const leftPrefix = "left-";
/** Closed tabs whose texts wait; the oldest is dropped beyond it. */
const leftTabsMax = 20;

/** @returns null if nothing is kept */
export function readKept(name: string): unknown {
  return read(sessionStorage, name);
}

export function keep(name: string, value: unknown): void {
  write(sessionStorage, name, value);
}

function read(storage: Storage, name: string): unknown {
  try {
    return JSON.parse(storage.getItem(name) ?? "null");
  } catch {
    return null;
  }
}

/** A browser that stores nothing costs only this. */
function write(storage: Storage, name: string, value: unknown): void {
  try {
    storage.setItem(name, JSON.stringify(value));
  } catch {
    // Full, or forbidden.
  }
}

interface Left {
  readonly at: number;
  readonly writer: number;
  readonly kept: Readonly<Record<string, unknown>>;
}

function leftTabs(): readonly (readonly [name: string, left: Left])[] {
  try {
    return Object.keys(localStorage)
      .filter((name) => name.startsWith(leftPrefix))
      .map((name) => [name, read(localStorage, name) as Left] as const)
      .filter(([, left]) => typeof left?.at === "number")
      .sort(([, a], [, b]) => b.at - a.at);
  } catch {
    return [];
  }
}

function forgetLeft(name: string): void {
  try {
    localStorage.removeItem(name);
  } catch {
    // Nothing was stored.
  }
}

/** This tab's own, and what it has taken from a tab that was closed. */
let ownName = "";
let taken: readonly [name: string, left: Left] | null = null;

function begin(): void {
  const before = readKept("tab");
  if (typeof before === "string") forgetLeft(before);
  ownName = `${leftPrefix}${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
  keep("tab", ownName);
  if (readKept("writer") !== null) return;
  const [newest] = leftTabs();
  if (newest === undefined) return;
  taken = newest;
  forgetLeft(newest[0]);
  keep("writer", newest[1].writer);
  for (const [name, value] of Object.entries(newest[1].kept)) keep(name, value);
}

begin();

/** Whether a value that is kept would be lost with the tab, by its name. */
const worths = new Map<string, () => boolean>();

export function leaveToNextVisit(name: string, isWorthIt: () => boolean): void {
  worths.set(name, isWorthIt);
}

function leave(): void {
  const writer = readKept("writer");
  const worth = [...worths].filter(([, isWorthIt]) => isWorthIt()).map(([name]) => [name, readKept(name)] as const);
  if (typeof writer !== "number" || worth.length === 0) return;
  write(localStorage, ownName, { at: Date.now(), writer, kept: Object.fromEntries(worth) });
  for (const [name] of leftTabs().slice(leftTabsMax)) forgetLeft(name);
}

export function watchLeaving(): void {
  addEventListener("pagehide", leave);
  // The tab is back: what it left is still here.
  addEventListener("pageshow", () => forgetLeft(ownName));
}

/** @returns whether what is kept is that of somebody else */
export function changesWriter(userId: number): boolean {
  const before = readKept("writer");
  keep("writer", userId);
  const isChanged = before !== null && before !== userId;
  // It waits for the person who typed it.
  if (isChanged && taken !== null) write(localStorage, taken[0], taken[1]);
  taken = null;
  return isChanged;
}
