/**
 * What a turn hands out when it ends: events first, then replies. Sockets and requests pass the realm's gate by
 * themselves; what observers do, and the removal of files, passes it here (M1).
 */
import type { DurabilityGate } from "../durability/journal/durability-gate.ts";
import type { Delta, Follower } from "../store/projections/projection.ts";
import type { Alarm, EventSink } from "./dispatcher-options.ts";
import { Observers } from "./observers.ts";
import type { Reply } from "./results.ts";
import type { StagedEvent } from "./stage-effects.ts";

export interface TurnOutputsOptions {
  readonly gate: DurabilityGate;
  readonly alarm: Alarm;
  /** Removes a file that no row on disk claims. */
  readonly discard: (file: string) => void;
}

export class TurnOutputs implements Follower {
  readonly observers = new Observers();
  readonly #options: TurnOutputsOptions;
  #sink: EventSink = { apply: () => undefined, stage: () => undefined, publish: () => undefined };
  readonly #resolutions: (() => void)[] = [];

  constructor(options: TurnOutputsOptions) {
    this.#options = options;
  }

  attach(sink: EventSink): void {
    this.#sink = sink;
  }

  apply(delta: Delta): void {
    this.#guard(() => this.#sink.apply(delta));
    this.observers.apply(delta);
  }

  stage(event: StagedEvent): void {
    this.#guard(() => this.#sink.stage(event));
  }

  resolve(answer: (reply: Reply) => void, reply: Reply): void {
    this.#resolutions.push(() => answer(reply));
  }

  discard(file: string): void {
    const { gate, discard } = this.#options;
    this.#resolutions.push(() => gate.waitFor(() => discard(file)));
  }

  handOut(): void {
    this.#guard(() => this.#sink.publish());
    const tellObservers = this.observers.take();
    if (tellObservers !== null) this.#options.gate.waitFor(() => this.#guard(tellObservers));
    for (const answer of this.#resolutions.splice(0)) answer();
  }

  /** A bug in delivery loses no event, because the log has it. It must not undo the command that caused the event. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.alarm.bug(error, null);
    }
  }
}
