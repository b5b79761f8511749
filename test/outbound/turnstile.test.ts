/** The turnstile that bounds look-ups of names and deliveries under way (src/outbound/turnstile.ts). */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { Turnstile } from "../../src/outbound/turnstile.ts";

t.test("[S3] webhook_name_lookups_concurrent_max: so many at a time, the others in their order", async (t) => {
  const max = limits.webhook_name_lookups_concurrent_max;
  const turnstile = new Turnstile(max);
  const entered: number[] = [];
  const all = Array.from({ length: max + 3 }, (_, index) => turnstile.enter().then(() => entered.push(index)));
  await Promise.all(all.slice(0, max));
  t.strictSame(entered, [...Array(max).keys()]);
  for (let next = max; next < max + 3; next++) {
    turnstile.leave();
    await all[next];
    t.strictSame(entered, [...Array(next + 1).keys()]);
  }
  for (let inside = max; inside > 0; inside--) turnstile.leave();
  await Promise.all(Array.from({ length: max }, () => turnstile.enter()));
  t.pass("places that were left are free again");
});
