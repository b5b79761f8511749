/**
 * HTTP responses that cannot be sent: their memory must be released, otherwise the server rejects other users' requests
 * (S3).
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { HttpResponder } from "../../src/http/http-responder.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { UnsentBytes } from "../../src/runtime/unsent-bytes.ts";
import type { TransportResponse } from "../../src/transport/transport.ts";

/** Like every transport: closing calls the abort handler before it returns. */
function responseOf(): TransportResponse {
  let aborted = () => {};
  return {
    onAborted: (handler: () => void) => {
      aborted = handler;
    },
    close: () => aborted(),
  } as unknown as TransportResponse;
}

t.test("[S3] a request whose large response has no room is ended exactly once", (t) => {
  const unsent = new UnsentBytes({ bytesMax: 1, shareBytesMax: 1, keptMsMin: 1000, monotonic: () => 0 });
  unsent.hold("user 7", 1, () => t.fail("it has not had its minimum time yet"));
  const responder = new HttpResponder(responseOf(), { clock: systemClock, unsent });
  responder.belongsTo(() => "user 7");
  let ends = 0;
  responder.onEnd(() => ends++);
  responder.answer({ status: 200, body: "x".repeat(limits.answer_small_bytes_max + 1), headers: [] }, null);
  t.equal(ends, 1);
  t.end();
});
