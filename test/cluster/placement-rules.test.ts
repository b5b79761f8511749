/** Which node an organization belongs to, without any node. */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { type Candidate, KnownScores, preferredNode } from "../../src/durability/cluster/placement.ts";

const node = (name: string, more: Partial<Candidate> = {}): Candidate => ({
  node: name,
  isReady: true,
  isDraining: false,
  ...more,
});
const ids = Array.from({ length: 3000 }, (_, index) => index + 1);
const placesOf = (nodes: readonly Candidate[]) => ids.map((id) => preferredNode(id, nodes, null)?.node ?? "");

t.test("organizations are spread evenly, and a node that goes moves only its own", async (t) => {
  const before = placesOf(["a", "b", "c"].map((name) => node(name)));
  for (const name of ["a", "b", "c"]) {
    const share = before.filter((place) => place === name).length;
    t.ok(share > 900 && share < 1100, `${name} has ${share} of ${ids.length}`);
  }
  const after = placesOf(["c", "a"].map((name) => node(name)));
  const moved = ids.filter((_, index) => before[index] !== after[index]);
  t.ok(moved.every((id) => before[id - 1] === "b"));
});

t.test("nodes that are not ready or draining get nothing while there are others; a pin counts if it can", async (t) => {
  const all = [node("a"), node("b", { isReady: false }), node("c", { isDraining: true })];
  t.strictSame(new Set(placesOf(all)), new Set(["a"]));
  t.strictSame(new Set(placesOf(all.slice(1))), new Set(["c"]), "a node that drains rather than one that is not ready");
  t.equal(preferredNode(1, [], null), null);
  const two = [node("a"), node("b")];
  for (const id of ids.slice(0, 20)) t.equal(preferredNode(id, two, "b")?.node, "b");
  t.equal(preferredNode(1, all, "c")?.node, "a", "a node that drains keeps nothing");
  t.equal(preferredNode(1, all, "gone")?.node, "a");
});

t.test("[S3] cluster_scores_max: a node remembers so many scores, and computes the same ones again", async (t) => {
  const scores = new KnownScores();
  const first = scores.of(1, "a");
  for (let id = 2; id <= limits.cluster_scores_max; id++) scores.of(id, "a");
  t.equal(scores.size, limits.cluster_scores_max);
  scores.of(limits.cluster_scores_max + 1, "a");
  t.ok(scores.size <= limits.cluster_scores_max, "one more makes room");
  t.equal(scores.of(1, "a"), first);
});
