// Measures searches in a filled organization: CPU time of the main thread per first page, and the bytes of the index
// beside those of the messages. `npx tsx bench/search-cost.ts [messages]`
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readNarrow, termsOf } from "../domain/narrow/narrow.ts";
import { forgivenIfEmpty } from "../src/queries/forgiven-searches.ts";
import { MessageWalk, UnindexedAllowance } from "../src/queries/message-fetch.ts";
import { finished } from "../src/queries/passes.ts";
import { searchStateIn } from "../src/store/search-index.ts";
import { addMessages, word } from "./lib/fill.ts";
import { createOrganization, OWNER } from "./lib/organization.ts";

const messages = Number(process.argv[2] ?? 600_000);
const folder = mkdtempSync(join(tmpdir(), "search-cost-"));
const print = (line: string) => process.stdout.write(`${line}\n`);
const rounds = 20;
const page = 50;
const searches: readonly (readonly [what: string, operand: string])[] = [
  ["common word", `${word(3)} `],
  ["rare word", `${word(30_000)} `],
  ["two words", `${word(3)} ${word(2000)} `],
  ["beginning", word(2000).slice(0, 3)],
  ["no hits", "12345678 "],
  ["no hits, typo looked for", "zzyzxqvk "],
];

try {
  await createOrganization(folder, async (realm) => {
    const begun = process.cpuUsage();
    await addMessages(realm, { messages, topics: 100, areUnread: false });
    const { user, system } = process.cpuUsage(begun);
    print(`${messages} messages posted and indexed in ${Math.round((user + system) / 1e6)} s of CPU`);
    const { view, lmdb } = realm;
    const reader = view.users.get(OWNER.id);
    if (reader === undefined) throw new Error("no owner");
    print(`${searchStateIn(view).segments.length} segments`);
    const bytes = { index: 0, messages: 0 };
    lmdb.each("searchPostings", ({ ids }, [, term]) => {
      bytes.index += ids.length + Buffer.byteLength(term) + 24;
    });
    lmdb.each("messages", ({ content, rendered }) => {
      bytes.messages += Buffer.byteLength(content) + Buffer.byteLength(rendered) + 60;
    });
    print(`index ${bytes.index} bytes, messages ${bytes.messages}: ${(bytes.index / bytes.messages).toFixed(2)}`);
    for (const [what, operand] of searches) {
      let found = 0;
      const times: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const start = process.cpuUsage();
        const narrowed = readNarrow(view, reader, termsOf([["search", operand]]));
        if ("kind" in narrowed) throw new Error(narrowed.msg);
        const unindexed = new UnindexedAllowance();
        const options = { view, reader, isAbandoned: () => false, unindexed };
        const walk = new MessageWalk(view, reader, narrowed, () => false, options);
        let collected = await finished(walk.collect(1e15, -1, page));
        const forgiven = collected.messages.length === 0 ? await finished(forgivenIfEmpty(narrowed, options)) : null;
        if (forgiven !== null) {
          collected = await finished(
            new MessageWalk(view, reader, forgiven, () => false, options).collect(1e15, -1, page),
          );
        }
        found = collected.messages.length;
        const spent = process.cpuUsage(start);
        times.push((spent.user + spent.system) / 1000);
      }
      times.sort((a, b) => a - b);
      print(`${what} (${operand.trim()}): ${found} found, ${times[rounds / 2]?.toFixed(2)} ms`);
    }
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
