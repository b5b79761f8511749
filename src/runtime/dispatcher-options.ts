/** What the dispatcher needs from its realm, and whom it reports to. */
import type { Command } from "../../actors/protocol/commands.ts";
import type { DurabilityGate } from "../durability/journal/durability-gate.ts";
import { damageIn } from "../store/damage.ts";
import type { Lmdb } from "../store/lmdb.ts";
import type { Follower } from "../store/projections/projection.ts";
import type { RealmProjections } from "../store/projections/realm-projections.ts";
import type { Clock } from "./clock.ts";
import type { StagedEvent } from "./stage-effects.ts";
import type { TurnWatch } from "./turn-watch.ts";

/** Receives events: they are staged as each command is applied, and published at the turn's end. */
export interface EventSink extends Follower {
  stage(event: StagedEvent): void;
  publish(): void;
}

/** How the dispatcher alerts an operator: by log lines, and by ending the process. */
export interface Alarm {
  /** A command threw (M6), or, if `command` is null, delivering its results threw. */
  bug(error: unknown, command: Command | null): void;
  /** A write to the journal or a store failed (M5). Must not return. */
  fatal(error: unknown): never;
  /** Logs one line for the operator. */
  warn(line: string): void;
}

/**
 * Ends the process for a write that failed, and for a turn of which only a part was handed out (M5).
 * @throws DamagedData, which its caller survives
 */
export function orEnd(alarm: Alarm, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (damageIn(error) !== null) throw error;
    alarm.fatal(error);
  }
}

export interface DispatcherOptions {
  readonly environment: Lmdb;
  /** Through it leaves whatever shows a turn (M1). */
  readonly gate: DurabilityGate;
  readonly projections: RealmProjections;
  readonly clock: Clock;
  readonly alarm: Alarm;
  /** Whether the disk has room for writes (M5). */
  readonly acceptsWrites: () => boolean;
  /** Removes a file that no row on disk claims. */
  readonly discard: (file: string) => void;
  /** Gets the durations of turns; absent where nobody reads them. */
  readonly turnWatch?: TurnWatch;
}
