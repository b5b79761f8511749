/** The lowest of many ids (actors/rules/missed-messages.ts), compared with sorting all of them. */
import fc from "fast-check";
import t from "tap";
import { LowestIds } from "../../actors/rules/missed-messages.ts";
import { seedOf } from "../support/seed.ts";

t.test("[S3] the lowest ids are found in any order of arrival, each once", async (t) => {
  const ids = fc.array(fc.nat({ max: 60 }), { maxLength: 200 });
  fc.assert(
    fc.property(ids, fc.integer({ min: 1, max: 6 }), (all, count) => {
      const lowest = new LowestIds(count);
      for (const id of all) lowest.add(id);
      const naive = [...new Set(all)].sort((a, b) => a - b).slice(0, count);
      return JSON.stringify(lowest.ascending()) === JSON.stringify(naive);
    }),
    { seed: seedOf(t), numRuns: 3000 },
  );
});
