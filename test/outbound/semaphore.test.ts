/** The semaphore that bounds concurrent name lookups and deliveries (src/outbound/delivery-limiter.ts). */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { Semaphore } from "../../src/outbound/delivery-limiter.ts";

t.test("[S3] webhook_name_lookups_concurrent_max: that many lookups run at once, the others in order", async (t) => {
  const max = limits.webhook_name_lookups_concurrent_max;
  const semaphore = new Semaphore(max);
  const entered: number[] = [];
  const all = Array.from({ length: max + 3 }, (_, index) => semaphore.enter().then(() => entered.push(index)));
  await Promise.all(all.slice(0, max));
  t.strictSame(entered, [...Array(max).keys()]);
  for (let next = max; next < max + 3; next++) {
    semaphore.leave();
    await all[next];
    t.strictSame(entered, [...Array(next + 1).keys()]);
  }
  for (let inside = max; inside > 0; inside--) semaphore.leave();
  await Promise.all(Array.from({ length: max }, () => semaphore.enter()));
  t.pass("released slots are free again");
});
