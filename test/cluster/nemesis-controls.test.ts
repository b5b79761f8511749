/** The nemesis finds faults: programs that are broken on purpose must not pass it (positive controls). */
import t from "tap";
import { type Breakage, brokenCheckout } from "../support/broken-checkout.ts";
import { natsObstacle } from "./nats.ts";
import { playNemesis } from "./nemesis.ts";

interface Control {
  readonly what: string;
  readonly breakages: readonly Breakage[];
  readonly faults: readonly string[];
  readonly found: RegExp;
}

const controls: readonly Control[] = [
  {
    what: "answers before the acknowledgement",
    breakages: [
      {
        file: "src/cluster/stream-journal.ts",
        from: "    this.#begin();\n    return ++this.#appended;",
        to: "    this.#begin();\n    this.#durable++;\n    queueMicrotask(() => this.#listener());\n    return ++this.#appended;",
      },
      { file: "src/cluster/stream-journal.ts", from: "    this.#durable += records;\n", to: "" },
    ],
    faults: ["cuts a node off and kills it"],
    found: /does not have message|has undefined as message|has post \d+ as message/,
  },
];

const rounds = Number(process.env["ROUNDS"] ?? 6);
const obstacle = natsObstacle();
if (obstacle !== null) t.plan(0, obstacle);
else {
  for (const { what, breakages, faults, found } of controls) {
    t.test(`[M1] the nemesis finds ${what}`, async (t) => {
      const program = brokenCheckout(t, breakages);
      const violations = await playNemesis(t, { rounds, seed: 1, faults, hitsOwner: true, program });
      t.match(violations.join("\n"), found);
      t.comment(violations.slice(0, 3).join("\n").slice(0, 500));
    });
  }
}
