/** Answers that an edge gives itself, because no owner gave one. */
import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { startEdge } from "./edge.ts";
import { openClient } from "./owner.ts";

for (const isSecure of [true, false]) {
  const expected = ["application/json", "nosniff", isSecure ? "max-age=63072000" : undefined];

  const guards = (headers: IncomingHttpHeaders) => {
    return [headers["content-type"], headers["x-content-type-options"], headers["strict-transport-security"]];
  };

  t.test(
    `[D277] an edge's own answers have the headers of every answer ${isSecure ? "with" : "without"} TLS`,
    async (t) => {
      const clock = new ManualClock(0);
      const destination = () => {
        clock.advance(limits.forward_wait_ms_max);
        return { kind: "nobody" } as const;
      };
      const edge = await startEdge(t, { destination, clock, isSecure });
      const full = await startEdge(t, { destination, isSecure, bounds: { requestsMax: 0 } });
      for (const [url, code] of [
        [edge, "OWNER_UNREACHABLE"],
        [full, "OVERLOADED"],
      ] as const) {
        const answer = await fetch(url);
        t.match(await answer.json(), { result: "error", code });
        t.strictSame(guards(Object.fromEntries(answer.headers)), expected, code);
      }
      const [, refused] = await once(openClient(t, edge).socket, "unexpected-response");
      t.equal(refused.statusCode, 503);
      t.equal(refused.headers["retry-after"], String(limits.forward_retry_s));
      t.strictSame(guards(refused.headers), expected, "a handshake");
      refused.resume();
    },
  );
}
