/** What journal-program.ts appends: known by position, so that any part that is found can be compared. */
import type { Recorded, RecordNumber } from "../../src/durability/journal/journal.ts";
import { sampleRecord } from "./contract.ts";

export const programSizes = { segmentBytes: 8192, sparesMax: 2, spareStepBytes: 4096, ringBytes: 4096 };

/** Some need a segment of their own. */
export function programRecord(position: RecordNumber): Recorded {
  const size = position % 41 === 0 ? 10_000 : (position * 37) % 900;
  return { position, realmId: (position % 3) + 1, bytes: sampleRecord(position, size) };
}
