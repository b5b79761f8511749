/**
 * The realm's line of commands: first come, first served, whoever tells goes to its back (M7); only the rest of a command goes
 * first. With the disk nearly full, what the server itself wants to write is held, and stands in front again when there is space (M5).
 */

import type { Command } from "../../actors/commands.ts";
import { actorKinds } from "../../actors/kinds.ts";
import type { Entry } from "./entry.ts";

export class Line {
  #entries: Entry[] = [];
  #held: Entry[] = [];

  get length(): number {
    return this.#entries.length;
  }

  get heldLength(): number {
    return this.#held.length;
  }

  /** The array that a turn walks; what is told meanwhile is pushed to its end. */
  get entries(): readonly Entry[] {
    return this.#entries;
  }

  push(entry: Entry): void {
    this.#entries.push(entry);
  }

  /** The first `count` are done; `first` comes before everything else. */
  advance(count: number, first: Entry | null): void {
    const left = this.#entries.slice(count);
    this.#entries = first === null ? left : [first, ...left];
  }

  /** Takes what would write out of the line: askers are told by `refuse`, the server's own commands are held. */
  setAsideWrites(refuse: (entry: Entry) => void): void {
    const runnable: Entry[] = [];
    for (const entry of this.#entries) {
      if (isVolatile(entry.command)) runnable.push(entry);
      else if (entry.settle === null) this.#held.push(entry);
      else refuse(entry);
    }
    this.#entries = runnable;
  }

  /** There is space again: what was held goes first, it was accepted first. */
  restoreHeld(): void {
    if (this.#held.length === 0) return;
    this.#entries = [...this.#held, ...this.#entries];
    this.#held = [];
  }

  /** Whether everything in the line may be forgotten at a shutdown: it stands in a row, or is volatile. */
  get isSafe(): boolean {
    return this.#entries.every(({ source, command }) => {
      return source.kind === "mailbox" || source.kind === "timer" || (source.kind === "told" && isVolatile(command));
    });
  }

  clear(): void {
    this.#entries = [];
    this.#held = [];
  }
}

export function isVolatile(command: Command): boolean {
  return actorKinds[command.to.actor].isVolatile;
}
