/**
 * Batches writes of data that changes too often to be written each time (E4). Entries are collected in memory and
 * written from time to time, a portion per turn, so that no turn is long. A crash loses the entries since the last
 * batch, but no update id is reused (E1).
 */
import { type Command, command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import type { PresenceRecord } from "../../schemas/presence.ts";
import type { VolatileTimers } from "./volatile-timers.ts";

/** Pause between two portions of one batch. */
const pauseMs = 100;

interface BatchOptions<V> {
  readonly name: string;
  /** Merges an entry with a newer one of the same key that arrives before it is written. */
  readonly merge: (before: V, added: V) => V;
  readonly toCommand: (entries: readonly V[]) => Command;
}

/** Access to the timers, the disk state and the command queue. */
interface BatchTools {
  readonly volatileTimers: VolatileTimers;
  readonly acceptsWrites: () => boolean;
  readonly send: (flush: Command) => void;
}

class Batch<V> {
  readonly #options: BatchOptions<V>;
  readonly #tools: BatchTools;
  readonly #unwritten = new Map<string | number, V>();

  constructor(tools: BatchTools, options: BatchOptions<V>) {
    this.#tools = tools;
    this.#options = options;
  }

  add(key: string | number, value: V): void {
    const before = this.#unwritten.get(key);
    this.#unwritten.set(key, before === undefined ? value : this.#options.merge(before, value));
    if (!this.#tools.volatileTimers.has(this.#options.name)) this.#flushIn(limits.batch_persist_ms);
  }

  #flushIn(milliseconds: number): void {
    this.#tools.volatileTimers.set(this.#options.name, milliseconds, () => this.#flushPortion());
  }

  /** While the disk is nearly full, entries stay here. Their number is bounded by the number of keys. */
  #flushPortion(): void {
    if (!this.#tools.acceptsWrites()) {
      this.#flushIn(limits.batch_persist_ms);
      return;
    }
    this.#writePortion();
    if (this.#unwritten.size > 0) this.#flushIn(pauseMs);
  }

  #writePortion(): void {
    const entries: V[] = [];
    for (const [key, value] of this.#unwritten) {
      if (entries.length === limits.batch_rows_max) break;
      entries.push(value);
      this.#unwritten.delete(key);
    }
    this.#tools.send(this.#options.toCommand(entries));
  }

  get isWritten(): boolean {
    return this.#unwritten.size === 0;
  }

  /** Writes all entries at once, at a shutdown. */
  flush(): void {
    while (this.#unwritten.size > 0 && this.#tools.acceptsWrites()) this.#writePortion();
  }
}

/** Number of reports with new input from one user on one day (D32). */
export interface ActivityCount {
  /** Days since 1970, UTC. */
  readonly day: number;
  readonly userId: number;
  readonly reports: number;
}

const dayMs = 24 * 60 * 60 * 1000;

export class Batches {
  readonly #presence: Batch<PresenceRecord>;
  readonly #inputs: Batch<ActivityCount>;

  constructor(tools: BatchTools) {
    this.#presence = new Batch(tools, {
      name: "batch:presence",
      merge: (_before, added) => added,
      toCommand: (rows) => command({ actor: "realm" }, "presence.persist", { rows }, null),
    });
    this.#inputs = new Batch(tools, {
      name: "batch:inputs",
      merge: (before, added) => ({ ...before, reports: before.reports + added.reports }),
      toCommand: (counts) => command({ actor: "realm" }, "inputs.persist", { counts }, null),
    });
  }

  presenceChanged(row: PresenceRecord): void {
    this.#presence.add(row.userId, row);
  }

  /** The user was active in a client since their last report (spec 4.7, new_user_input). */
  inputSeen(userId: number, now: number): void {
    const day = Math.floor(now / dayMs);
    this.#inputs.add(`${day}:${userId}`, { day, userId, reports: 1 });
  }

  /** Whether a crash would lose nothing. */
  get isWritten(): boolean {
    return this.#presence.isWritten && this.#inputs.isWritten;
  }

  flush(): void {
    this.#presence.flush();
    this.#inputs.flush();
  }
}
