/**
 * The realm's line of commands: first come, first served, whoever tells goes to its back (M7); only the rest of a command goes
 * first. With the disk nearly full, what the server itself wants to write is held, and stands in front again when there is space (M5).
 */

import type { Command, CommandType } from "../../actors/commands.ts";
import { actorKinds } from "../../actors/kinds.ts";
import { limits } from "../../schemas/limits.ts";
import type { Entry } from "./entry.ts";

/** Pieces of work that may be long and that nobody needs at once; each tells the next. */
const pieces: ReadonlySet<CommandType> = new Set(["topic-deletion.continue", "retention.sweep"]);

export interface TurnKind {
  /** Without a transaction: nothing in it writes. */
  readonly isVolatileTurn: boolean;
  /** Nobody has asked for anything for a while. */
  readonly isQuiet: boolean;
  /** Somebody waits for an answer to what it began with. */
  readonly isAsked: boolean;
}

export class Line {
  #entries: Entry[] = [];
  #held: Entry[] = [];
  /** How many of the entries the turn that runs has taken. */
  #taken = 0;
  #hadPiece = false;
  /** For how many turns pieces have waited. */
  #turnsWithout = 0;
  #postponed: Entry[] = [];

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

  /**
   * Takes the next command of this turn; null: it has none left. While people ask, pieces of long work go to the back: most turns
   * with requests have none, no turn has more than one.
   */
  next({ isVolatileTurn, isQuiet, isAsked }: TurnKind): Entry | null {
    for (let entry = this.#entries[this.#taken]; entry !== undefined; entry = this.#entries[this.#taken]) {
      // What a volatile turn was told to write waits for a turn with a transaction.
      if (isVolatileTurn && !isVolatile(entry.command)) return null;
      this.#taken++;
      if (!pieces.has(entry.command.type)) return entry;
      const isTurnOfPieces = !isAsked || this.#turnsWithout >= limits.turns_without_pieces_max;
      if (isQuiet || (isTurnOfPieces && !this.#hadPiece)) {
        this.#hadPiece = true;
        return entry;
      }
      this.#postponed.push(entry);
    }
    return null;
  }

  /** What was taken is done; `first` comes before everything else. */
  endTurn(first: Entry | null): void {
    const left = this.#entries.slice(this.#taken);
    for (const entry of this.#postponed) left.push(entry);
    this.#entries = first === null ? left : [first, ...left];
    this.#turnsWithout = this.#hadPiece || this.#postponed.length === 0 ? 0 : this.#turnsWithout + 1;
    this.#postponed = [];
    this.#taken = 0;
    this.#hadPiece = false;
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

  /** Whether somebody waits for an answer to what stands in the line. */
  get isAsked(): boolean {
    return this.#entries.some(({ settle }) => settle !== null);
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
