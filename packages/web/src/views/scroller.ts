/** Keeps the place of a list of messages while it grows and changes, and reads what is visible. */
import { signal } from "@preact/signals";
import { markSeen } from "../reading.ts";
import { isConversation, matcherFor, type Term } from "../state/narrow.ts";
import { myId, settings } from "../store.ts";

/** Pixels to the end at which new messages keep the list at the end. */
const nearEnd = 60;

/** The message at the top of the list that is out of sight above, at least in part; its conversation is named there. */
export const topMessage = signal<number | null>(null);

interface Anchor {
  readonly id: string;
  readonly offset: number;
}

function rowsOf(box: HTMLElement): HTMLElement[] {
  return [...box.querySelectorAll<HTMLElement>("[data-id]")];
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

function mayRead(terms: readonly Term[]): boolean {
  const policy = settings.peek()?.web_mark_read_on_scroll_policy ?? 1;
  return policy === 1 || (policy === 2 && isConversation(terms));
}

/** Everything that scrolls: the anchor, the ends, what was seen. */
export class Scroller {
  #anchor: Anchor | null = null;
  isAtEnd = true;
  readonly terms: readonly Term[];
  readonly box: HTMLElement;

  constructor(box: HTMLElement, terms: readonly Term[]) {
    this.box = box;
    this.terms = terms;
  }

  /** Remembers where the list is, and reads what is visible. */
  note(): void {
    const { box } = this;
    const { top, bottom } = box.getBoundingClientRect();
    const rows = rowsOf(box);
    const first = firstVisible(rows, top);
    const row = rows[first];
    this.#anchor =
      row === undefined ? null : { id: row.dataset["id"] ?? "", offset: row.getBoundingClientRect().top - top };
    const isHeadSeen = (this.#anchor?.offset ?? 0) >= 0 && row?.previousElementSibling?.matches(".conversation");
    topMessage.value = this.#anchor === null || isHeadSeen === true ? null : Number(this.#anchor.id);
    this.isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < nearEnd;
    if (document.hidden || !document.hasFocus() || !mayRead(this.terms)) return;
    if (matcherFor(this.terms, myId.peek()) === null) return;
    const seen: number[] = [];
    for (let index = first; index < rows.length; index++) {
      const rect = rows[index]?.getBoundingClientRect();
      if (rect === undefined || rect.top + Math.min(rect.height, 60) > bottom) break;
      seen.push(Number(rows[index]?.dataset["id"]));
    }
    markSeen(seen);
  }

  /** After a change of the list: the same row stays at the same height, or the end stays visible. */
  restore(): void {
    const { box } = this;
    if (this.isAtEnd) box.scrollTop = box.scrollHeight;
    else if (this.#anchor !== null) {
      const row = box.querySelector(`[data-id="${CSS.escape(this.#anchor.id)}"]`);
      if (row === null) return;
      const offset = row.getBoundingClientRect().top - box.getBoundingClientRect().top;
      box.scrollTop += offset - this.#anchor.offset;
    }
  }

  get nearest(): number | null {
    return this.#anchor === null ? null : Number(this.#anchor.id);
  }

  /** @param share of the height above the row */
  show(id: number, share: number): void {
    const row = this.box.querySelector(`[data-id="${id}"]`);
    if (row === null) return;
    const { top, height } = this.box.getBoundingClientRect();
    this.box.scrollTop += row.getBoundingClientRect().top - top - height * share;
    this.isAtEnd = false;
    this.note();
  }
}
