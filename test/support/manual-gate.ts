/** A gate before a journal whose flushes the test decides. */
import { type Gate, Gates, type GatesOptions, type RealmGate } from "../../src/durability/journal/gate.ts";
import { ManualJournal } from "./manual-journal.ts";

/** What leaves never holds the loop for too long: how fast the machine is plays no part. */
const stillClock: GatesOptions["clock"] = { monotonic: () => 0, soon: (callback) => queueMicrotask(callback) };

interface ManualGates {
  readonly journal: ManualJournal;
  readonly gates: Gates;
  /** Counts what waits. */
  readonly memory: { bytes: number };
}

export function openGates(options: Partial<GatesOptions> = {}): ManualGates {
  const journal = new ManualJournal();
  const memory = { bytes: 0 };
  const gates = new Gates({
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
export function openManualGate(): { readonly journal: ManualJournal; readonly gate: Gate; readonly write: () => void } {
  const { journal, gates } = openGates();
  const gate: RealmGate = gates.open();
  return { journal, gate, write: () => gate.appended(journal.append(1, Buffer.from("turn")), ["messages"]) };
}
