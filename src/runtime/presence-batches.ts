/** Presence rows that changed since they were last written: latest wins, written together now and then (E4). */
import { limits } from "../../schemas/limits.ts";
import type { PresenceRecord } from "../../schemas/records.ts";
import type { TimerWheel } from "./wheel.ts";

const rowsPerCommand_max = 1000;

export class PresenceBatches {
  readonly #wheel: TimerWheel;
  readonly #persist: (rows: readonly PresenceRecord[]) => void;
  readonly #dirty = new Map<number, PresenceRecord>();

  readonly #acceptsWrites: () => boolean;

  constructor(wheel: TimerWheel, acceptsWrites: () => boolean, persist: (rows: readonly PresenceRecord[]) => void) {
    this.#wheel = wheel;
    this.#acceptsWrites = acceptsWrites;
    this.#persist = persist;
  }

  changed(row: PresenceRecord): void {
    this.#dirty.set(row.userId, row);
    if (!this.#wheel.has("presence:persist")) this.#flushLater();
  }

  #flushLater(): void {
    this.#wheel.set("presence:persist", limits.presence_persist_ms, () => this.flush());
  }

  /** With the disk nearly full, the rows wait here: latest wins, so there are never more than people. */
  flush(): void {
    if (!this.#acceptsWrites()) {
      this.#flushLater();
      return;
    }
    const rows = [...this.#dirty.values()];
    this.#dirty.clear();
    for (let start = 0; start < rows.length; start += rowsPerCommand_max) {
      this.#persist(rows.slice(start, start + rowsPerCommand_max));
    }
  }
}
