/**
 * A process with a journal in files, for tests that trace it, cut its power or let its disk fail. It appends batches of
 * records, each as soon as all but the last `ahead` are durable, releases some of them, closes and opens the journal in
 * between, and prints what is durable as soon as it knows.
 */
import { writeSync } from "node:fs";
import { openFileJournal } from "../../src/durability/journal/file-journal.ts";
import { DurableWatch } from "./contract.ts";
import { programRecord, programSizes } from "./program-records.ts";

const [, , folder = "", openings = "1", batches = "1", ahead = "0", segmentBytes = "8192"] = process.argv;

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

for (let opening = 0; opening < Number(openings); opening++) {
  const { journal } = await openFileJournal({
    folder,
    sizes: { ...programSizes, segmentBytes: Number(segmentBytes) },
    fatal(error) {
      say(`lost (${error.reason}): ${error.message}`);
      process.exit(9);
    },
  });
  const watch = new DurableWatch(journal, () => say(`durable ${journal.durable}`));
  for (let batch = 0; batch < Number(batches); batch++) {
    for (let index = 0; index <= batch % 4; index++) {
      const { realmId, bytes } = programRecord(journal.appended + 1);
      journal.append(realmId, bytes);
    }
    await watch.until(journal.appended - Number(ahead));
    if (batch % 5 === 4 && journal.durable > 3) {
      say(`released ${journal.durable - 3}`);
      journal.release(journal.durable - 3);
    }
  }
  await journal.close();
  say("closed");
}
