/** Keeps the place of a list of messages while it grows and changes, and reads what was in the window. */
import { signal } from "@preact/signals";
import { markSeen } from "../reading.ts";
import { isConversation, marksRead, type Term } from "../state/narrow.ts";
import { settings, unreadIds } from "../store.ts";

/** Pixels to the end at which new messages keep the list at the end. */
const nearEnd = 60;
/** Pixels at the edges of a row that nobody has to see: less than a line. */
const edgePixels = 8;

/** The message at the top of the list that is out of sight above, at least in part; its conversation is named there. */
export const topMessage = signal<number | null>(null);

/** The row that keeps its distance to the top of the list. */
interface Anchor {
  readonly id: string;
  readonly offset: number;
}

/** The part of a message that was in the window, as shares of its height. */
interface SeenPart {
  readonly from: number;
  readonly to: number;
}

function rowsOf(box: HTMLElement): HTMLElement[] {
  return [...box.querySelectorAll<HTMLElement>("[data-id]")];
}

const idOf = (row: HTMLElement) => row.dataset["id"] ?? "";

function newestOf(box: HTMLElement): number {
  return Number(rowsOf(box).at(-1)?.dataset["id"] ?? 0);
}

/** Whether the browser has not laid out the content of a row, because it is far from the window. */
function isSkipped(row: HTMLElement): boolean {
  return row.lastElementChild?.checkVisibility({ contentVisibilityAuto: true }) === false;
}

/** The first row that is visible, found by halving. */
function firstVisible(rows: readonly HTMLElement[], top: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.getBoundingClientRect().bottom ?? 0) <= top) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether somebody who looks at the list reads it. */
function isReading(terms: readonly Term[]): boolean {
  const policy = settings.peek()?.web_mark_read_on_scroll_policy ?? 1;
  return marksRead(terms) && (policy === 1 || (policy === 2 && isConversation(terms)));
}

const isLookedAt = () => !document.hidden && document.hasFocus();

/** Everything that scrolls: what is held in its place, the ends, what was seen. */
export class Scroller {
  /** Whether the list has the newest messages: at its end, further ones scroll it. */
  #hasEnd: boolean;
  isAtEnd = false;
  readonly terms: readonly Term[];
  readonly box: HTMLElement;
  /** What stays where it is when heights change: the end, or a row. The person's own scrolling changes it. */
  #isEndHeld = false;
  #anchor: Anchor | null = null;
  /** The newest messages were asked for: when they come, the list shows its end. */
  #isEndExpected = false;
  /** Where the page itself has scrolled to. */
  #ownTop = -1;
  #nearest: number | null = null;
  #newest: number;
  /** Rows that are laid out although the browser has not drawn them yet: before, they have an assumed height. */
  readonly #laidOut = new Set<HTMLElement>();
  /** Unread messages that were in the window in part. */
  readonly #seen = new Map<number, SeenPart>();

  constructor(box: HTMLElement, terms: readonly Term[], hasEnd: boolean) {
    this.box = box;
    this.terms = terms;
    this.#hasEnd = hasEnd;
    this.#newest = newestOf(box);
  }

  /** Remembers where the list is, and reads what was in the window. */
  note(): void {
    const { box } = this;
    const { top, bottom } = box.getBoundingClientRect();
    const rows = rowsOf(box);
    const first = firstVisible(rows, top);
    const visible = this.#visible(rows, first, bottom);
    const [row] = visible;
    this.#nearest = row === undefined ? null : Number(idOf(row));
    const offset = row === undefined ? 0 : row.getBoundingClientRect().top - top;
    const isHeadSeen = offset >= 0 && row?.previousElementSibling?.matches(".conversation") === true;
    topMessage.value = isHeadSeen ? null : this.#nearest;
    this.isAtEnd = this.#hasEnd && box.scrollHeight - box.scrollTop - box.clientHeight < nearEnd;
    const isScrolled = Math.abs(box.scrollTop - this.#ownTop) >= 1;
    if (isScrolled) this.#isEndHeld = this.isAtEnd;
    if (isScrolled || this.#isEndHeld || this.#anchor === null) this.#hold(visible, top);
    // On the way to an end that is not here yet, messages are jumped over.
    const isRead = !this.#isEndExpected && isLookedAt() && isReading(this.terms);
    if (isRead) this.#read(visible, Math.max(top, this.#coveredTo()), bottom);
  }

  /** What changes above the first row that begins in the window does not move it. */
  #hold(visible: readonly HTMLElement[], top: number): void {
    this.#ownTop = this.box.scrollTop;
    const row = visible.find((one) => one.getBoundingClientRect().top >= top) ?? visible[0];
    this.#anchor = row === undefined ? null : this.#placeOf(row);
  }

  /**
   * The rows in the window. Those that the browser has not drawn have an assumed height: where a message may be read,
   * they are measured with their own.
   */
  #visible(rows: readonly HTMLElement[], first: number, bottom: number): readonly HTMLElement[] {
    const until = (mustLayOut: boolean) => {
      let last = first;
      for (; last < rows.length; last++) {
        const row = rows[last] as HTMLElement;
        if (mustLayOut) this.#layOut(row);
        if (row.getBoundingClientRect().top >= bottom) break;
      }
      return rows.slice(first, last);
    };
    const assumed = until(false);
    const visible = assumed.some((row) => unreadIds.peek().has(Number(idOf(row)))) ? until(true) : assumed;
    const isVisible = new Set(visible);
    for (const row of this.#laidOut) {
      if (isVisible.has(row)) continue;
      row.style.removeProperty("content-visibility");
      this.#laidOut.delete(row);
    }
    return visible;
  }

  #layOut(row: HTMLElement): void {
    if (this.#laidOut.has(row) || !isSkipped(row)) return;
    row.style.setProperty("content-visibility", "visible");
    this.#laidOut.add(row);
  }

  /** @param above pixels above the row that are laid out, too; likewise `below`, with the row itself */
  #layOutAround(row: HTMLElement, above: number, below: number): void {
    const rows = rowsOf(this.box);
    const at = rows.indexOf(row);
    const walk = (from: number, step: 1 | -1, pixels: number) => {
      for (let index = from, sum = 0; sum < pixels; index += step) {
        const next = rows[index];
        if (next === undefined) return;
        this.#layOut(next);
        sum += next.getBoundingClientRect().height;
      }
    };
    walk(at, 1, below);
    walk(at - 1, -1, above);
  }

  /** The line that names the conversation lies over the list. */
  #coveredTo(): number {
    return this.box.parentElement?.querySelector(".top-head .conversation")?.getBoundingClientRect().bottom ?? 0;
  }

  /** A message is read when all of it was in the window, if need be one part after the other. */
  #read(visible: readonly HTMLElement[], top: number, bottom: number): void {
    const read: number[] = [];
    for (const row of visible) {
      const id = Number(idOf(row));
      const { top: start, height } = row.getBoundingClientRect();
      if (height === 0 || !unreadIds.peek().has(id)) continue;
      const now = { from: Math.max(0, top - start) / height, to: Math.min(height, bottom - start) / height };
      if (now.to <= now.from) continue;
      const before = this.#seen.get(id);
      const touches = before !== undefined && now.from <= before.to && before.from <= now.to;
      const { from, to } = touches ? { from: Math.min(now.from, before.from), to: Math.max(now.to, before.to) } : now;
      this.#seen.set(id, { from, to });
      if (from * height <= edgePixels && (1 - to) * height <= edgePixels) read.push(id);
    }
    for (const id of read) this.#seen.delete(id);
    markSeen(read);
  }

  /** What a person opens in a row (an edit, a spoiler) grows downwards from there. */
  touch(target: EventTarget | null): void {
    const row = target instanceof Element ? target.closest<HTMLElement>("[data-id]") : null;
    if (row === null) return;
    this.#isEndHeld = false;
    this.#anchor = this.#placeOf(row);
  }

  #placeOf(row: HTMLElement): Anchor {
    return { id: idOf(row), offset: row.getBoundingClientRect().top - this.box.getBoundingClientRect().top };
  }

  /** The window has another height: its end stays visible. */
  resized(): void {
    if (this.isAtEnd) this.#scrollToEnd();
    else this.restore();
  }

  /** The list has changed: new messages scroll it if it was at its end, all else stays where it is. */
  changed(hasEnd: boolean): void {
    const follows = this.#isEndHeld || this.isAtEnd;
    this.#isEndHeld = hasEnd && (follows || this.#isEndExpected);
    this.#hasEnd = hasEnd;
    this.restore();
    const before = this.#newest;
    this.#newest = newestOf(this.box);
    if (this.#newest > before && this.#isEndHeld && follows && !this.#isEndExpected) this.#keepUnread();
  }

  /** New messages push none out of the window that the person has not read: nobody would find it again. */
  #keepUnread(): void {
    if (!isReading(this.terms)) return;
    const unread = unreadIds.peek();
    const isNext = (id: number) => id >= (this.#nearest ?? 0) && unread.has(id);
    const row = rowsOf(this.box).find((one) => isNext(Number(idOf(one))));
    if (row === undefined) return;
    const { top } = this.box.getBoundingClientRect();
    if (row.getBoundingClientRect().top < top) this.show(Number(idOf(row)), 0.1);
  }

  /** Heights have changed: what is held stays where it is. */
  restore(): void {
    const { box } = this;
    if (this.#isEndHeld) this.#scrollToEnd();
    else if (this.#anchor !== null) {
      const row = box.querySelector(`[data-id="${CSS.escape(this.#anchor.id)}"]`);
      if (row === null) this.#anchor = null;
      else {
        const moved = row.getBoundingClientRect().top - box.getBoundingClientRect().top - this.#anchor.offset;
        // Even to the same place it would end the browser's own smooth scrolling.
        if (Math.abs(moved) >= 1) box.scrollTop += moved;
      }
      this.#ownTop = box.scrollTop;
    }
  }

  #scrollToEnd(): void {
    const { box } = this;
    const last = rowsOf(box).at(-1);
    if (last !== undefined) this.#layOutAround(last, box.clientHeight, 1);
    box.scrollTop = box.scrollHeight;
    this.#ownTop = box.scrollTop;
  }

  /** The message at the top of the window. */
  get nearest(): number | null {
    return this.#nearest;
  }

  /** Where the list is now. */
  get position(): Anchor | null {
    const { top } = this.box.getBoundingClientRect();
    const rows = rowsOf(this.box);
    const row = rows[firstVisible(rows, top)];
    return row === undefined ? null : this.#placeOf(row);
  }

  expectEnd(): void {
    this.#isEndExpected = true;
  }

  toEnd(): void {
    this.#isEndExpected = false;
    this.#isEndHeld = true;
    this.#scrollToEnd();
    this.note();
  }

  /** @param share of the height above the row */
  show(id: number, share: number): void {
    this.showAt(id, this.box.getBoundingClientRect().height * share);
  }

  /** @param offset pixels from the top of the window to the row */
  showAt(id: number, offset: number): void {
    const { box } = this;
    const row = box.querySelector<HTMLElement>(`[data-id="${id}"]`);
    if (row === null) return;
    const { top, height } = box.getBoundingClientRect();
    this.#layOutAround(row, offset, height - offset);
    box.scrollTop += row.getBoundingClientRect().top - top - offset;
    this.#ownTop = box.scrollTop;
    this.#isEndHeld = false;
    this.#anchor = this.#placeOf(row);
    this.note();
  }
}
