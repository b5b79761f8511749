/** Which id an anchor stands for that is not an id: the first message of a time (public API: get-messages). */
import type { View } from "../domain/view.ts";

/**
 * The first message that was sent at a time or later. Times never go back from one id to the next (M4), so it is found by halving.
 * @returns one more than the newest id when there is none
 */
export function firstMessageSince(view: View, milliseconds: number): number {
  let low = 1;
  let high = view.counter("message") + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [found] = view.rows("messages", { start: middle, end: high, limit: 1 });
    if (found === undefined) high = middle;
    else if (found.row.sentAt < milliseconds) low = found.key + 1;
    else high = middle;
  }
  return low;
}
