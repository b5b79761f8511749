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

/** An owner that never stops answering, whatever its lease says. */
const withoutLease: Breakage = {
  file: "src/durability/cluster/leases.ts",
  from: "    return !isLate && !this.#hasLapsed;",
  to: "    return true;",
};

const controls: readonly Control[] = [
  {
    what: "a stale owner that serves reads",
    breakages: [withoutLease],
    faults: ["cuts a node off", "stops a node for a while"],
    found: /does not have message|has undefined as message/,
  },
  {
    // With the lease, an owner that is cut off or stands still ends before it sends anything late.
    what: "owners without a fence that do not end by their lease",
    breakages: [
      withoutLease,
      {
        file: "src/durability/cluster/realm-log.ts",
        from: "        expect: { lastSubjectSequence: after },\n",
        to: "",
      },
    ],
    faults: ["stops a node for a while", "cuts a node off"],
    found:
      /ended with code 78[\s\S]*is damaged|does not follow|acknowledged as message|does not have message|as message \d+, not/,
  },
  {
    what: "answers before the acknowledgement",
    breakages: [
      {
        file: "src/durability/cluster/stream-journal.ts",
        from: "    this.#begin();\n    return ++this.#appended;",
        to: "    this.#begin();\n    this.#durable++;\n    queueMicrotask(() => this.#listener());\n    return ++this.#appended;",
      },
      { file: "src/durability/cluster/stream-journal.ts", from: "    this.#durable += records;\n", to: "" },
    ],
    faults: ["cuts a node off and kills it"],
    // Its number may be given to another one, too.
    found: /does not have message|has undefined as message|has post \d+ as message|were acknowledged as message/,
  },
];

// A fault shows only when it is long and a request meets it, so some rounds find nothing; the first find ends the play.
const rounds = Number(process.env["ROUNDS"] ?? 24);
const plays_max = 4;
const obstacle = natsObstacle();
if (obstacle !== null) t.plan(0, obstacle);
else {
  for (const { what, breakages, faults, found } of controls) {
    t.test(`[M1] the nemesis finds ${what}`, async (t) => {
      const program = brokenCheckout(t, breakages);
      // What a proxy cuts arrives late, which these programs must not survive.
      const network = "proxies";
      let violations = "";
      // A play ends with its first violation, which may be another consequence of what is broken.
      for (let seed = 1; seed <= plays_max && !found.test(violations); seed++) {
        await t.test(`play ${seed}`, async (t) => {
          const play = await playNemesis(t, { rounds, seed, faults, hitsOwner: true, program, network });
          t.comment(play.slice(0, 3).join("\n").slice(0, 500));
          violations += `${play.join("\n")}\n`;
        });
      }
      t.match(violations, found);
    });
  }
}
