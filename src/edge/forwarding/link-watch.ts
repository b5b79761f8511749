/**
 * Keeps a link alive, and notices when the other node neither closes it nor does anything with it.
 *
 * Work on many things that lets others have their turn.
 */
import { limits } from "../../../schemas/limits.ts";
import type { Clock } from "../../runtime/clock.ts";

/** Begins at once and continues in later passes of the event loop. */
export function inChunks<T>(clock: Clock, all: readonly T[], work: (one: T) => void): void {
  for (const one of all.slice(0, limits.gate_piece_sockets)) work(one);
  const rest = all.slice(limits.gate_piece_sockets);
  if (rest.length > 0) clock.soon(() => inChunks(clock, rest, work));
}

export interface LinkWatchOptions {
  readonly clock: Clock;
  /** Says that this node is there. */
  readonly beat: () => void;
  /** The other node is of no use any more. Called once. */
  readonly lost: () => void;
}

export class LinkWatch {
  readonly #options: LinkWatchOptions;
  #heardAt: number;
  #dueAt = 0;
  #cancel: () => void = () => undefined;

  constructor(options: LinkWatchOptions) {
    this.#options = options;
    this.#heardAt = options.clock.monotonic();
    this.#beatLater();
  }

  /** The other node is there. */
  heard(): void {
    this.#heardAt = this.#options.clock.monotonic();
  }

  /** Since the other node was heard. */
  get silentMs(): number {
    return this.#options.clock.monotonic() - this.#heardAt;
  }

  stop(): void {
    this.#cancel();
  }

  #beatLater(): void {
    const { clock } = this.#options;
    this.#dueAt = clock.monotonic() + limits.forward_link_beat_ms;
    this.#cancel = clock.after(limits.forward_link_beat_ms, () => this.#check());
  }

  #check(): void {
    const { clock, beat, lost } = this.#options;
    const now = clock.monotonic();
    // This process stood still itself: what the other one sent meanwhile has not been read yet.
    if (now - this.#dueAt > limits.forward_link_beat_ms) this.#heardAt = now;
    if (now - this.#heardAt > limits.forward_link_silence_ms_max) {
      lost();
      return;
    }
    this.#beatLater();
    beat();
  }
}
