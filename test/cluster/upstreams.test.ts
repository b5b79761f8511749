/** Connections to other nodes, and when they count as lost. */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { Upstreams } from "../../src/edge/forwarding/upstreams.ts";
import { ManualClock } from "../support/manual-clock.ts";

/** A connection to a node of which the test says whether it is gone. */
function watched() {
  const clock = new ManualClock(0);
  const state = { isGone: false, isLost: false };
  const upstreams = new Upstreams(
    {
      key: "",
      ownAddress: "",
      destinationOf: () => ({ kind: "nobody" }),
      isGone: () => state.isGone,
      onceChanged: () => Promise.resolve(),
    },
    clock,
  );
  const end = upstreams.watch("b", () => {
    state.isLost = true;
    end();
  });
  return { clock, state };
}

t.test("what is under way to a node ends when the node is silent for too long", async (t) => {
  const { clock, state } = watched();
  clock.advance(10 * limits.cluster_lease_renewal_ms);
  t.notOk(state.isLost);
  state.isGone = true;
  clock.advance(limits.cluster_lease_renewal_ms);
  t.ok(state.isLost);
});

t.test("a node that stood still itself first reads what the others sent meanwhile", async (t) => {
  const { clock, state } = watched();
  state.isGone = true;
  clock.jump(5000);
  t.notOk(state.isLost, "nobody was silent");
  state.isGone = false;
  clock.advance(10 * limits.cluster_lease_renewal_ms);
  t.notOk(state.isLost);
  state.isGone = true;
  clock.advance(limits.cluster_lease_renewal_ms);
  t.ok(state.isLost);
});
