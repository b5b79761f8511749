/**
 * Collects newly online users for a second (docs/realtime.md) and then sends one event in the modern form, or one event
 * per user in the legacy form. Legacy events are sent in bounded portions of users times queues, the rest a second
 * later. Clients get the state at delivery (E4).
 */

import type { View } from "../../../domain/view.ts";
import type { StoredBody } from "../../../schemas/events.ts";
import { limits } from "../../../schemas/limits.ts";
import type { VolatileTimers } from "../../runtime/volatile-timers.ts";
import type { ReaderClass } from "./queue.ts";

const timer = "presence:publish";

export interface OnlineNotice {
  readonly body: StoredBody<"presence">;
  readonly replaces: string;
  readonly classes: readonly ReaderClass[];
}

export class NewlyOnline {
  readonly #view: View;
  readonly #volatileTimers: VolatileTimers;
  readonly #isLimited: boolean;
  readonly #publishLater: () => void;
  #unannounced = new Set<number>();
  /** Users not yet sent to clients of the legacy form. Bounded by the number of users. */
  #unannouncedOlder = new Set<number>();

  /** @param isLimited presence is sent only for users that the viewer may know (spec 4.7) */
  constructor(view: View, volatileTimers: VolatileTimers, isLimited: boolean, publish: () => void) {
    this.#view = view;
    this.#volatileTimers = volatileTimers;
    this.#isLimited = isLimited;
    this.#publishLater = publish;
  }

  note(userIds: readonly number[]): void {
    for (const id of userIds) {
      this.#unannounced.add(id);
      this.#unannouncedOlder.add(id);
    }
    this.#arm();
  }

  #arm(): void {
    if (!this.#volatileTimers.has(timer))
      this.#volatileTimers.set(timer, limits.presence_coalesce_ms, this.#publishLater);
  }

  /** The notices to send now, with the classes of their queues. */
  takeNotices(all: readonly ReaderClass[]): OnlineNotice[] {
    const modern: ReaderClass[] = [];
    const older: ReaderClass[] = [];
    for (const one of all) {
      if (one.wantsType("presence")) (one.can("simplified_presence_events") ? modern : older).push(one);
    }
    const olderQueues = older.reduce((sum, { queues }) => sum + queues.length, 0);
    const ids = this.#present(this.#unannounced);
    this.#unannounced = new Set();
    const notices = this.#takeOlder(olderQueues).map((id) => this.#notice([id], "legacy", older));
    if (modern.length > 0 && ids.length > 0) notices.push(this.#notice(ids, "modern", modern));
    if (this.#unannouncedOlder.size > 0) this.#arm();
    return notices;
  }

  /** A user who was deactivated meanwhile is not online. */
  #present(ids: Iterable<number>): number[] {
    return [...ids].filter((id) => this.#view.users.get(id)?.isActive === true);
  }

  #takeOlder(queues: number): number[] {
    const portion =
      queues === 0 ? this.#unannouncedOlder.size : Math.ceil(limits.presence_older_deliveries_max / queues);
    const ids = [...this.#unannouncedOlder].slice(0, portion);
    for (const id of ids) this.#unannouncedOlder.delete(id);
    return queues === 0 ? [] : this.#present(ids);
  }

  #notice(ids: readonly number[], form: "legacy" | "modern", classes: readonly ReaderClass[]): OnlineNotice {
    // The latest state wins per user: one user's notice must not replace another's.
    const replaces = `presence:${form}:${ids.join(",")}`;
    return { body: { user_ids: ids, form, is_limited: this.#isLimited }, replaces, classes };
  }
}
