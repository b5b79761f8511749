/**
 * The realm's command queue: first in, first out; commands that actors send are appended (M7), and only the
 * continuation of a command is queued at the front. While the disk is nearly full, the server's own commands that write
 * are set aside, and are queued at the front again when there is space (M5).
 */

import { actorKinds, mayRunBetween } from "../../actors/kinds.ts";
import type { Command, CommandType } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import type { QueuedCommand } from "./queued-command.ts";

/** Background commands: possibly long, and not urgent. Each one enqueues the next. */
const backgroundCommands: ReadonlySet<CommandType> = new Set(["topic-deletion.continue", "retention.sweep"]);

export interface TurnKind {
  /** A turn without a transaction: nothing in it writes. */
  readonly isVolatileTurn: boolean;
  /** There have been no requests for a while. */
  readonly isIdle: boolean;
  /** A request waits for a command that was queued when the turn began. */
  readonly isRequested: boolean;
}

export class CommandQueue {
  #commands: QueuedCommand[] = [];
  #deferredWrites: QueuedCommand[] = [];
  /** Number of entries that the running turn has taken. */
  #taken = 0;
  #hadBackgroundCommand = false;
  /** Number of consecutive turns in which background commands were postponed. */
  #turnsWithoutBackground = 0;
  #postponed: QueuedCommand[] = [];

  get length(): number {
    return this.#commands.length;
  }

  get deferredLength(): number {
    return this.#deferredWrites.length;
  }

  /** The array that a turn walks; commands sent meanwhile are appended to it. */
  get commands(): readonly QueuedCommand[] {
    return this.#commands;
  }

  /** Whether nothing in the queue writes. */
  get isVolatile(): boolean {
    return this.#commands.every(({ command }) => isVolatile(command));
  }

  push(queued: QueuedCommand): void {
    this.#commands.push(queued);
  }

  /**
   * Takes the next command of this turn, or null if none is left. While requests wait, background commands are
   * postponed: most turns with requests run none, and none runs more than one.
   * @param continued a command that continues in the next turn: all others wait for its end, from the first one on that
   *   must (M7)
   */
  next({ isVolatileTurn, isIdle, isRequested }: TurnKind, continued: QueuedCommand | null): QueuedCommand | null {
    for (let queued = this.#commands[this.#taken]; queued !== undefined; queued = this.#commands[this.#taken]) {
      if (continued !== null && !isPassing(queued, continued)) return null;
      // A command that writes, sent in a volatile turn, waits for a turn with a transaction.
      if (isVolatileTurn && !isVolatile(queued.command)) return null;
      this.#taken++;
      if (!isBackground(queued)) return queued;
      const allowsBackground = !isRequested || this.#turnsWithoutBackground >= limits.turns_without_background_max;
      if (isIdle || (allowsBackground && !this.#hadBackgroundCommand)) {
        this.#hadBackgroundCommand = true;
        return queued;
      }
      this.#postponed.push(queued);
    }
    return null;
  }

  /** Drops the commands that were taken, and puts `first` at the front. */
  endTurn(first: QueuedCommand | null): void {
    const left = this.#commands.slice(this.#taken);
    for (const queued of this.#postponed) left.push(queued);
    this.#commands = first === null ? left : [first, ...left];
    // A turn whose budget ended before it reached a background command counts, too.
    const isWaiting = this.#postponed.length > 0 || left.some(isBackground);
    this.#turnsWithoutBackground = isWaiting && !this.#hadBackgroundCommand ? this.#turnsWithoutBackground + 1 : 0;
    this.#postponed = [];
    this.#taken = 0;
    this.#hadBackgroundCommand = false;
  }

  /** Removes commands that would write: requests are rejected by `refuse`, and the server's own commands are held. */
  setAsideWrites(refuse: (queued: QueuedCommand) => void): void {
    const runnable: QueuedCommand[] = [];
    for (const queued of this.#commands) {
      if (isVolatile(queued.command)) runnable.push(queued);
      else if (queued.resolve === null) this.#deferredWrites.push(queued);
      else refuse(queued);
    }
    this.#commands = runnable;
  }

  /** There is space again: held commands go to the front, because they were accepted first. */
  restoreDeferred(): void {
    if (this.#deferredWrites.length === 0) return;
    this.#commands = [...this.#deferredWrites, ...this.#commands];
    this.#deferredWrites = [];
  }

  /** Whether a request waits for a queued command. */
  get isRequested(): boolean {
    return this.#commands.some(({ resolve }) => resolve !== null);
  }

  /** Whether the queue may be dropped at a shutdown: every command is stored in a row or is volatile. */
  get isSafe(): boolean {
    return this.#commands.every(({ source, command }) => {
      return source.kind === "mailbox" || source.kind === "timer" || (source.kind === "sent" && isVolatile(command));
    });
  }

  clear(): void {
    this.#commands = [];
    this.#deferredWrites = [];
  }
}

/** Only requests and volatile commands pass: others are tried again before everything else if they fail (M6). */
function isPassing({ command, resolve }: QueuedCommand, continued: QueuedCommand): boolean {
  return (resolve !== null || isVolatile(command)) && mayRunBetween(command, continued.command);
}

function isBackground({ command }: QueuedCommand): boolean {
  return backgroundCommands.has(command.type);
}

export function isVolatile(command: Command): boolean {
  return actorKinds[command.to.actor].isVolatile;
}
