/**
 * Finding presence newer than an update id gives the same result as a scan of all users, at a cost of the rows it
 * returns (spec 4.7).
 */
import fc from "fast-check";
import t from "tap";
import type { PresenceRecord } from "../../schemas/presence.ts";
import { PresenceProjection } from "../../src/store/projections/queues.ts";
import { seedOf } from "../support/seed.ts";

function rowOf(userId: number, updateId: number): PresenceRecord {
  return { userId, updateId, activeAt: updateId, connectedAt: updateId };
}

t.test("[spec 4.7] the rows newer than last_update_id are the latest rows of users since, in order", async (t) => {
  // Also reports written late (an older update id), deleted rows, and users who report again and again.
  const step = fc.record({ userId: fc.nat(30), updateId: fc.nat(600), isGone: fc.boolean() });
  const property = fc.property(
    fc.array(step, { maxLength: 600 }),
    fc.integer({ min: -1, max: 600 }),
    (steps, after) => {
      const projection = new PresenceProjection();
      for (const { userId, updateId, isGone } of steps) {
        const row = isGone && updateId % 7 === 0 ? null : rowOf(userId, updateId);
        projection.apply({ table: "presence", key: userId, row });
      }
      const expected = [...projection.all()]
        .filter((row) => row.updateId > after)
        .map((row) => `${row.updateId}:${row.userId}`);
      const newer = projection.newerThan(after);
      const names = newer.map((row) => `${row.updateId}:${row.userId}`);
      const isAscending = newer.every((row, index) => index === 0 || (newer[index - 1]?.updateId ?? 0) <= row.updateId);
      return isAscending && JSON.stringify(names.sort()) === JSON.stringify(expected.sort());
    },
  );
  fc.assert(property, { seed: seedOf(t), numRuns: 200 });
  t.pass("same as a scan of all users");
});

t.test("[S3] replaced rows are released, and a ping does not read users who changed earlier", async (t) => {
  const projection = new PresenceProjection();
  const people = 1000;
  let looked = 0;
  const watched = (userId: number, updateId: number): PresenceRecord => {
    const row = rowOf(userId, updateId);
    return Object.defineProperty({ ...row }, "updateId", {
      enumerable: true,
      get() {
        looked++;
        return updateId;
      },
    });
  };
  let updateId = 0;
  for (let round = 0; round < 20; round++) {
    for (let userId = 0; userId < people; userId++) {
      updateId++;
      projection.apply({ table: "presence", key: userId, row: watched(userId, updateId) });
    }
  }
  looked = 0;
  t.equal(projection.newerThan(updateId).length, 0);
  t.ok(looked <= 1, "nothing new: one row read");
  t.equal(projection.newerThan(updateId - 5).length, 5);
  looked = 0;
  t.equal(projection.newerThan(-1).length, people);
  t.ok(looked <= 3 * people, `${looked} row reads with ${people} users after 20 reports each`);
});
