/** The faults of a simulated machine's disk and clock, and who draws them. */

/** Of a flush of the journal. */
export type JournalFault =
  /** Nothing of it is on the disk. */
  | { readonly kind: "crash before flush" }
  /** A part of what was appended is on the disk, and whatever came after it is not. */
  | { readonly kind: "torn flush" }
  /** It is on the disk, and nobody has been told. */
  | { readonly kind: "crash after flush" }
  | { readonly kind: "failed flush" }
  | { readonly kind: "slow flush"; readonly ms: number }
  /** The disk is so far behind that turns must wait. */
  | { readonly kind: "full journal"; readonly ms: number };

/** Of a checkpoint. */
export type CheckpointFault =
  | { readonly kind: "crash before checkpoint" }
  /** After this many rows. */
  | { readonly kind: "crash in checkpoint"; readonly rows: number }
  /** The store has it, and the process has not been told. */
  | { readonly kind: "crash after checkpoint" }
  | { readonly kind: "failed checkpoint" }
  | { readonly kind: "slow checkpoint"; readonly ms: number };

/** Of a start. */
export type StartFault =
  /** Before the stores have what is in the journal. */
  | { readonly kind: "crash before recovery" }
  /** After it, and before the journal has forgotten it. */
  | { readonly kind: "crash after recovery" };

/** Of a turn. */
export type TurnFault =
  /** Its record was handed over, and nothing else of it left the turn. */
  | { readonly kind: "crash in turn" }
  | { readonly kind: "clock set back"; readonly ms: number }
  | { readonly kind: "clock jumps ahead"; readonly ms: number; readonly lastingMs: number };

export interface Faults {
  readonly flush: JournalFault;
  readonly checkpoint: CheckpointFault;
  readonly start: StartFault;
  readonly turn: TurnFault;
}

export type Fault = Faults[keyof Faults];

/** What a simulated disk takes from the seed. */
export interface FaultPlan {
  /** @returns the fault that this one meets, if any */
  draw<M extends keyof Faults>(moment: M): Faults[M] | null;
  /** The fault has happened. */
  met(fault: Fault): void;
  /** 0 to `count` - 1. */
  below(count: number): number;
}

/** The machine has stopped: code that still runs has no visible effect. */
export class MachineDown extends Error {
  override readonly name = "MachineDown";
}
