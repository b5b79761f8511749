/** A gate before a journal whose flushes the test decides. */
import {
  type DurabilityGate,
  DurabilityGates,
  type DurabilityGatesOptions,
  type RealmDurabilityGate,
} from "../../src/durability/journal/durability-gate.ts";
import { ManualJournal } from "./manual-journal.ts";

/** What leaves never holds the loop for too long: how fast the machine is plays no part. */
const stillClock: DurabilityGatesOptions["clock"] = {
  monotonic: () => 0,
  soon: (callback) => queueMicrotask(callback),
};

interface ManualGates {
  readonly journal: ManualJournal;
  readonly gates: DurabilityGates;
  /** Counts what waits. */
  readonly memory: { bytes: number };
}

export function openGates(options: Partial<DurabilityGatesOptions> = {}): ManualGates {
  const journal = new ManualJournal();
  const memory = { bytes: 0 };
  const gates = new DurabilityGates({
    journal,
    hasRoom: () => true,
    onceRoom: (goOn) => goOn(),
    memory,
    onLeft: () => undefined,
    clock: stillClock,
    reportBug: (error) => Promise.reject(error),
    ...options,
  });
  journal.onDurable(() => gates.advanced());
  return { journal, gates, memory };
}

/** Of one organization. `write` appends a record of a turn, which is durable at the next flush. */
export function openManualGate(): {
  readonly journal: ManualJournal;
  readonly gate: DurabilityGate;
  readonly write: () => void;
} {
  const { journal, gates } = openGates();
  const gate: RealmDurabilityGate = gates.open();
  return { journal, gate, write: () => gate.appended(journal.append(1, Buffer.from("turn")), ["messages"]) };
}
