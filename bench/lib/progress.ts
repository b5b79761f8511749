// A progress bar over all runs of the command, by planned seconds. Silent when stdout is not a terminal.

import { type Bar, Presets, SingleBar } from "cli-progress";

export interface Progress {
  /** Adds planned work, in seconds. */
  plan(seconds: number): void;
  /** Sets the label of the current run. */
  label(text: string): void;
  /** Records completed work, in seconds. */
  advance(seconds: number): void;
  stop(): void;
}

export function startProgress(stream: NodeJS.WriteStream): Progress {
  return stream.isTTY ? new BarProgress(stream) : { plan() {}, label() {}, advance() {}, stop() {} };
}

class BarProgress implements Progress {
  readonly #bar: Bar;
  #total = 0;

  constructor(stream: NodeJS.WriteStream) {
    this.#bar = new SingleBar(
      { format: "{bar} {percentage}% {text}", stream, hideCursor: true, clearOnComplete: true, forceRedraw: true },
      Presets.shades_classic,
    );
    this.#bar.start(1, 0, { text: "" });
  }

  plan(seconds: number): void {
    this.#total += seconds;
    this.#bar.setTotal(Math.max(1, this.#total));
  }

  label(text: string): void {
    this.#bar.update({ text });
  }

  advance(seconds: number): void {
    this.#bar.increment(seconds);
  }

  stop(): void {
    this.#bar.stop();
  }
}
