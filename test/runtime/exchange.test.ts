/** How an exchange ends when its answer cannot be sent: what it holds must be released, or memory is refused to everybody (S3). */
import type { HttpResponse } from "uWebSockets.js";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { Exchange } from "../../src/http/exchange.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { UnsentBytes } from "../../src/runtime/unsent-bytes.ts";

/** As uWebSockets.js does it: closing tells the handler of aborts before it returns. */
function responseOf(): HttpResponse {
  let aborted = () => {};
  return {
    onAborted: (handler: () => void) => {
      aborted = handler;
    },
    close: () => aborted(),
  } as unknown as HttpResponse;
}

t.test("[S3] a change whose large answer has no room ends its exchange once", (t) => {
  const unsent = new UnsentBytes({ bytesMax: 1, shareBytesMax: 1, keptMsMin: 1000, monotonic: () => 0 });
  unsent.hold("user 7", 1, () => t.fail("it had no time yet"));
  const exchange = new Exchange(responseOf(), { clock: systemClock, unsent });
  exchange.belongsTo(() => "user 7");
  let ends = 0;
  exchange.onEnd(() => ends++);
  exchange.answer({ status: 200, body: "x".repeat(limits.answer_small_bytes_max + 1), headers: [] }, null);
  t.equal(ends, 1);
  t.end();
});
