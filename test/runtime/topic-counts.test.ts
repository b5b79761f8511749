/** Whether a user may have one more topic policy is known without counting the rows each time (src/runtime/caches.ts). */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { TopicCounts } from "../../src/runtime/caches.ts";

const max = limits.user_topics_per_user_max;
const row = { topic: "t", visibilityPolicy: 3, changedAt: 0 } as const;

/** Rows by key, as in the store, with the number of times that they were counted. */
function counted(first: number) {
  const rows = new Set(Array.from({ length: first }, (_, index) => `t${index}`));
  const counts = new TopicCounts();
  let times = 0;
  return {
    hasRoom: () =>
      counts.hasRoom(1, (limit) => {
        times++;
        return Math.min(limit, rows.size);
      }),
    put(topic: string) {
      rows.add(topic);
      counts.apply({ table: "userTopics", key: [1, 1, topic], row });
    },
    remove(topic: string) {
      rows.delete(topic);
      counts.apply({ table: "userTopics", key: [1, 1, topic], row: null });
    },
    times: () => times,
  };
}

t.test("policies of a user are counted once, however many follow", async (t) => {
  const user = counted(max - 1000);
  t.equal(user.hasRoom(), true);
  for (let index = 0; index < 999; index++) {
    user.put(`new ${index}`);
    t.ok(user.hasRoom());
  }
  t.equal(user.times(), 1);
});

t.test("[S3] user_topics_per_user_max: the answer is right at the bound, whatever was changed before", async (t) => {
  const user = counted(max - 2);
  t.equal(user.hasRoom(), true);
  // A row that replaces another counts as new until the bound is reached.
  for (let index = 0; index < 10; index++) user.put("t0");
  t.equal(user.hasRoom(), true);
  user.put("a");
  t.equal(user.hasRoom(), true);
  user.put("b");
  t.equal(user.hasRoom(), false);
  const times = user.times();
  user.put("b");
  t.equal(user.hasRoom(), false);
  t.equal(user.times(), times, "a user at the bound is not counted again");
  user.remove("b");
  t.equal(user.hasRoom(), true);
  user.put("c");
  t.equal(user.hasRoom(), false);
});

t.test("[S3] cached_rows_per_table_max: with one more user, the oldest is counted again", async (t) => {
  const counts = new TopicCounts();
  const counted: number[] = [];
  const ask = (userId: number) =>
    counts.hasRoom(userId, () => {
      counted.push(userId);
      return 0;
    });
  for (let userId = 0; userId <= limits.cached_rows_per_table_max; userId++) ask(userId);
  counted.length = 0;
  ask(limits.cached_rows_per_table_max);
  t.strictSame(counted, []);
  ask(0);
  t.strictSame(counted, [0]);
});
