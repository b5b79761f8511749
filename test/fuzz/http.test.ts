/**
 * The fuzz over HTTP: every operation with hostile parameters drawn from its declaration, as everybody who could send it. Whatever
 * comes, the answer is the envelope with a declared code; there is no bug, no trace, no growth. `npm run test:fuzz` is the long run.
 */
import t from "tap";
import { endpoints } from "../../schemas/index.ts";
import { seedOf } from "../support/seed.ts";
import { newTally, playCampaign, playRound } from "./campaign.ts";
import type { Input } from "./inputs.ts";

/** A number, or the inputs themselves: as a failure prints them. */
const given = process.env["INPUTS"] ?? "";
const count = given.startsWith("[") || given === "" ? 4000 : Number(given);
const perRound = 20_000;
const surplusMibMax = 48;

t.test("[issue, Fuzz] every operation answers whatever is sent in the envelope, with a declared code", async (t) => {
  if (given.startsWith("[")) {
    const tally = newTally();
    await playRound(t, JSON.parse(given) as Input[], tally);
    t.strictSame(tally.faults, []);
    return;
  }
  const seed = seedOf(t);
  const tally = await playCampaign(t, {
    seed,
    count,
    perRound,
    onRound: ({ sent, surplusMib }) => t.comment(`${sent} inputs, heap ${surplusMib.at(-1)?.toFixed(1)} MiB`),
  });
  t.strictSame(tally.faults, [], `SEED=${seed} INPUTS=${count}`);
  t.comment(JSON.stringify(Object.fromEntries(tally.codes)));
  t.ok(Math.max(...tally.surplusMib) < surplusMibMax, "[S3] memory holds the data and bounded caches, nothing else");
  const idle = endpoints.filter(({ operationId }) => !tally.succeeded.has(operationId)).map((each) => each.operationId);
  t.comment(`never succeeded: ${idle.join(" ")}`);
  t.ok(idle.length < endpoints.length / 2, "most operations are got to the end of, too");
});
