/** Waits for work, but not for ever. */
import type { Clock } from "./clock.ts";

/** Resolves when the work is done, or after some time. */
export function atMost(clock: Pick<Clock, "after">, milliseconds: number, work: Promise<void>): Promise<void> {
  return new Promise((done) => {
    const cancel = clock.after(milliseconds, done);
    void work.then(() => {
      cancel();
      done();
    });
  });
}
