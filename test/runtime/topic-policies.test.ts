/** The users with a policy for a topic are cached until a policy changes (src/runtime/caches.ts). */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { type KeptPolicy, TopicPolicies } from "../../src/runtime/caches.ts";

const row = { visibilityPolicy: 3 } as const;
const people = (count: number): KeptPolicy[] =>
  Array.from({ length: count }, (_, index) => ({ userId: index + 1, visibilityPolicy: 3 }));

t.test("[M9] policies of a topic are read once, and again after one is set or removed", async (t) => {
  const policies = new TopicPolicies();
  let reads = 0;
  const ask = (there: readonly KeptPolicy[]) =>
    policies.of(1, "lunch", () => {
      reads++;
      return there;
    });
  t.strictSame([ask([]), ask([])], [[], []]);
  policies.apply({ table: "topicPolicies", key: [1, "dinner", 7], row });
  policies.apply({ table: "topicPolicies", key: [2, "lunch", 7], row });
  policies.apply({ table: "userTopics", key: [1, 7, "lunch"], row: null });
  ask([]);
  t.equal(reads, 1, "another topic, channel and table");
  policies.apply({ table: "topicPolicies", key: [1, "lunch", 7], row });
  t.strictSame([ask(people(1)), ask([])], [people(1), people(1)], "set");
  policies.apply({ table: "topicPolicies", key: [1, "lunch", 7], row: null });
  t.strictSame(ask([]), [], "taken back");
  t.equal(reads, 3);
});

t.test("[S3] topic_policies_kept_max: for a topic with more policies only that fact is cached", async (t) => {
  const policies = new TopicPolicies();
  const most = limits.topic_policies_kept_max;
  const read = (count: number) => (limit: number) => people(count).slice(0, limit);
  t.equal(policies.of(1, "at the bound", read(most))?.length, most);
  t.equal(policies.of(1, "over", read(most + 1)), null);
  t.equal(policies.of(1, "over", read(0)), null, "until a row changes");
});

t.test("[S3] cached_rows_per_table_max: with one more topic, the oldest is evicted and read again", async (t) => {
  const policies = new TopicPolicies();
  const reads: string[] = [];
  const ask = (topic: string) =>
    policies.of(1, topic, () => {
      reads.push(topic);
      return [];
    });
  for (let index = 0; index < limits.cached_rows_per_table_max; index++) ask(`topic ${index}`);
  reads.length = 0;
  ask("topic 0");
  t.strictSame(reads, [], "at the bound");
  ask("one more");
  ask("topic 1");
  t.strictSame(reads, ["one more", "topic 1"]);
});
