/**
 * [M1, E1, E2] in a cluster whose nodes, NATS servers and connections fail at random: ROUNDS (2) rounds from a SEED.
 * test/README.md says what is done and what must hold.
 */
import t from "tap";
import { seedOf } from "../support/seed.ts";
import { natsObstacle } from "./nats.ts";
import { playNemesis } from "./nemesis.ts";

const obstacle = natsObstacle();
if (obstacle !== null) t.plan(0, obstacle);
else {
  const rounds = Number(process.env["ROUNDS"] ?? 2);
  t.test(
    `[M1] ${rounds} rounds of faults in a cluster lose and double nothing, for any client on any node`,
    async (t) => {
      t.strictSame(await playNemesis(t, { rounds, seed: seedOf(t) }), []);
    },
  );
}
