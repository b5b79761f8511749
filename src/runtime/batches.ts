/**
 * What changes too often to be written each time (E4; architecture, Presence): collected in memory and written together now and
 * then. Of many entries each turn takes a portion, so that none is long and nothing has to stand in the mailbox meanwhile. A
 * crash takes what came since the last batch, and nothing else: update ids go on above all that were given out (E1).
 */
import { type Command, command } from "../../actors/commands.ts";
import { limits } from "../../schemas/limits.ts";
import type { PresenceRecord } from "../../schemas/records.ts";
import type { TimerWheel } from "./wheel.ts";

/** Between two portions of one batch. */
const pauseMs = 100;

interface BatchOptions<V> {
  readonly name: string;
  /** What an entry becomes when another of its key comes before it is written. */
  readonly merge: (before: V, added: V) => V;
  readonly persist: (entries: readonly V[]) => Command;
}

/** How batches reach the clock, the disk and the line of commands. */
interface BatchTools {
  readonly wheel: TimerWheel;
  readonly acceptsWrites: () => boolean;
  readonly tell: (persist: Command) => void;
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
    if (!this.#tools.wheel.has(this.#options.name)) this.#persistIn(limits.batch_persist_ms);
  }

  #persistIn(milliseconds: number): void {
    this.#tools.wheel.set(this.#options.name, milliseconds, () => this.#persistPortion());
  }

  /** With the disk nearly full, entries wait here: there are never more than keys. */
  #persistPortion(): void {
    if (!this.#tools.acceptsWrites()) {
      this.#persistIn(limits.batch_persist_ms);
      return;
    }
    this.#writePortion();
    if (this.#unwritten.size > 0) this.#persistIn(pauseMs);
  }

  #writePortion(): void {
    const entries: V[] = [];
    for (const [key, value] of this.#unwritten) {
      if (entries.length === limits.batch_rows_max) break;
      entries.push(value);
      this.#unwritten.delete(key);
    }
    this.#tools.tell(this.#options.persist(entries));
  }

  /** Everything at once, at a shutdown. */
  flush(): void {
    while (this.#unwritten.size > 0 && this.#tools.acceptsWrites()) this.#writePortion();
  }
}

/** Reports with new input of one person on one day (D32). */
export interface InputCount {
  /** Days since 1970, UTC. */
  readonly day: number;
  readonly userId: number;
  readonly reports: number;
}

const dayMs = 24 * 60 * 60 * 1000;

export class Batches {
  readonly #presence: Batch<PresenceRecord>;
  readonly #inputs: Batch<InputCount>;

  constructor(tools: BatchTools) {
    this.#presence = new Batch(tools, {
      name: "batch:presence",
      merge: (_before, added) => added,
      persist: (rows) => command({ actor: "realm" }, "presence.persist", { rows }, null),
    });
    this.#inputs = new Batch(tools, {
      name: "batch:inputs",
      merge: (before, added) => ({ ...before, reports: before.reports + added.reports }),
      persist: (counts) => command({ actor: "realm" }, "inputs.persist", { counts }, null),
    });
  }

  presenceChanged(row: PresenceRecord): void {
    this.#presence.add(row.userId, row);
  }

  /** Somebody used a client since their last report (spec 4.7, new_user_input). */
  inputSeen(userId: number, now: number): void {
    const day = Math.floor(now / dayMs);
    this.#inputs.add(`${day}:${userId}`, { day, userId, reports: 1 });
  }

  flush(): void {
    this.#presence.flush();
    this.#inputs.flush();
  }
}
