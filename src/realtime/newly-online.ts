/**
 * Newly online people on their way to clients (realtime.md; architecture, Presence): collected for a second, then one event for
 * all of them in the modern form. The older form is one event each, so of many people it goes out in portions: their number times
 * that of the queues is bounded, and the rest follows a second later. What a client is told is as it is then (E4).
 */
import { limits } from "../../schemas/limits.ts";
import type { View } from "../domain/view.ts";
import type { TimerWheel } from "../runtime/wheel.ts";
import type { LiveQueue } from "./queue.ts";

const timer = "presence:publish";

export interface OnlineNotice {
  readonly body: Readonly<Record<string, unknown>>;
  readonly replaces: string;
  readonly queues: readonly LiveQueue[];
}

export class NewlyOnline {
  readonly #view: View;
  readonly #wheel: TimerWheel;
  readonly #isLimited: boolean;
  readonly #publishLater: () => void;
  #untold = new Set<number>();
  /** Of whom clients of the older form were not told yet. Never more than people. */
  #untoldOlder = new Set<number>();

  /** @param isLimited people are told only of those whom they may know (spec 4.7) */
  constructor(view: View, wheel: TimerWheel, isLimited: boolean, publish: () => void) {
    this.#view = view;
    this.#wheel = wheel;
    this.#isLimited = isLimited;
    this.#publishLater = publish;
  }

  note(userIds: readonly number[]): void {
    for (const id of userIds) {
      this.#untold.add(id);
      this.#untoldOlder.add(id);
    }
    this.#arm();
  }

  #arm(): void {
    if (!this.#wheel.has(timer)) this.#wheel.set(timer, limits.presence_coalesce_ms, this.#publishLater);
  }

  /** What is to be told now, to which of these queues. */
  publish(all: readonly LiveQueue[]): OnlineNotice[] {
    const modern: LiveQueue[] = [];
    const older: LiveQueue[] = [];
    for (const queue of all) {
      if (queue.wantsType("presence")) (queue.can("simplified_presence_events") ? modern : older).push(queue);
    }
    const ids = this.#present(this.#untold);
    this.#untold = new Set();
    const notices = this.#takeOlder(older.length).map((id) => this.#notice([id], "legacy", older));
    if (modern.length > 0 && ids.length > 0) notices.push(this.#notice(ids, "modern", modern));
    if (this.#untoldOlder.size > 0) this.#arm();
    return notices;
  }

  /** Who was deactivated meanwhile is not online. */
  #present(ids: Iterable<number>): number[] {
    return [...ids].filter((id) => this.#view.users.get(id)?.isActive === true);
  }

  #takeOlder(queues: number): number[] {
    const portion = queues === 0 ? this.#untoldOlder.size : Math.ceil(limits.presence_older_deliveries_max / queues);
    const ids = [...this.#untoldOlder].slice(0, portion);
    for (const id of ids) this.#untoldOlder.delete(id);
    return queues === 0 ? [] : this.#present(ids);
  }

  #notice(ids: readonly number[], form: "legacy" | "modern", queues: readonly LiveQueue[]): OnlineNotice {
    // Latest wins per person: news of one must not push out news of another.
    const replaces = `presence:${form}:${ids.join(",")}`;
    return { body: { user_ids: ids, form, is_limited: this.#isLimited }, replaces, queues };
  }
}
