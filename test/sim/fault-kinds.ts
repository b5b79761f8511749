/** Every kind of fault that a run may meet: each must occur, otherwise the runs prove less than they claim. */
import type { Fault } from "./faults.ts";
import { outsideFaults } from "./outside.ts";

/** Faults outside the disk and the clock. */
export const worldFaults = [
  "machine killed",
  "restart",
  "full disk",
  "slow machine",
  "turns of one command",
  "crash between frames",
  "crash between answers",
  "lost network",
  "stalled reader",
  ...outsideFaults,
] as const;
export const machineFaults = [
  "crash before flush",
  "torn flush",
  "crash after flush",
  "failed flush",
  "slow flush",
  "full journal",
  "crash before checkpoint",
  "crash in checkpoint",
  "crash after checkpoint",
  "failed checkpoint",
  "slow checkpoint",
  "crash before recovery",
  "crash after recovery",
  "crash in turn",
  "clock set back",
  "clock jumps ahead",
] as const satisfies readonly Fault["kind"][];
export type FaultKind = (typeof worldFaults)[number] | Fault["kind"];
