/** The context of the retention actor. */

/** One pass over all conversations that have a limit. */
export interface Round {
  readonly areDirectsDone: boolean;
  /** Channels up to this id are done. */
  readonly channelFloorId: number;
  /** Whether any conversation with a limit was found. */
  readonly hasLimit: boolean;
  /** When the first of the remaining messages is due; null: none found. */
  readonly nextAt: number | null;
  /** A limit changed during this round: another round follows. */
  readonly isRepeated: boolean;
  /** null: the round removes messages. */
  readonly counting: Counting | null;
}

/** The number of messages that the round would remove, counted until it is clear whether the round is allowed. */
export interface Counting {
  readonly messages: number;
  /** Where counting continues: the last direct message, and the last message in the channel after `channelFloorId`. */
  readonly directId: number;
  readonly channelMessageId: number;
}

/** A round that waits for an operator to confirm it. */
export interface PausedSweep {
  /** The realm's time that the round used to decide which messages are too old. */
  readonly at: number;
  readonly allMessages: number;
}

export interface RetentionContext {
  /** null: no round is running. */
  readonly round: Round | null;
  /** When the current timer is due; a timer with another time is ignored. null: no timer. */
  readonly dueAt: number | null;
  /** No direct message has an id up to this one. Ids increase with time, so none can be added below it. */
  readonly directFloorId: number;
  /**
   * `View.clockJumps` when a round was last allowed to remove messages; null: never, which counts as 0. If it is
   * unchanged, the clock has not jumped since.
   */
  readonly allowedLeaps: number | null;
  readonly held: PausedSweep | null;
}

/** In the state `sweeping`. */
export interface SweepingContext extends RetentionContext {
  readonly round: Round;
}

export const initialRetention: RetentionContext = {
  round: null,
  dueAt: null,
  directFloorId: 0,
  allowedLeaps: null,
  held: null,
};
