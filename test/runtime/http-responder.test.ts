/**
 * HTTP responses that cannot be sent: their memory must be released, otherwise the server rejects other users' requests
 * (S3).
 */

import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { alwaysDurable } from "../../src/durability/journal/durability-gate.ts";
import { HttpResponder } from "../../src/edge/http/http-responder.ts";
import type { RequestHead } from "../../src/edge/http/request-head.ts";
import type { TransportResponse } from "../../src/edge/transport/transport.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { RealmUse } from "../../src/runtime/realm.ts";
import { UnsentBytes } from "../../src/runtime/unsent-bytes.ts";
import { openManualGate } from "../support/manual-gate.ts";

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

t.test("[S3] a request whose large response has no room is ended exactly once", async (t) => {
  const unsent = new UnsentBytes({ bytesMax: 1, shareBytesMax: 1, keptMsMin: 1000, monotonic: () => 0 });
  unsent.reserve("user 7", 1, () => t.fail("it has not had its minimum time yet"));
  let ends = 0;
  const responder = new HttpResponder(responseOf(), { clock: systemClock, unsent }, () => ends++);
  responder.enter({ gate: alwaysDurable, use: new RealmUse(systemClock) }, () => "user 7");
  responder.answer({ status: 200, body: "x".repeat(limits.answer_small_bytes_max + 1), headers: [] }, null);
  t.equal(ends, 1);
});

/** A responder behind a gate that a test opens, and what reached the transport. */
function heldResponder({ bytesMax = 2 ** 30 } = {}) {
  const { journal, gate, write } = openManualGate();
  write();
  const unsent = new UnsentBytes({ bytesMax, shareBytesMax: bytesMax, keptMsMin: 1000, monotonic: () => 0 });
  const sent: string[] = [];
  const response = {
    ...responseOf(),
    cork: (work: () => void) => work(),
    writeStatus: (status: string) => sent.push(status),
    writeHeader: () => undefined,
    tryEnd: (body: Buffer) => {
      sent.push(String(body));
      return [true, true];
    },
    end: (body: Buffer) => sent.push(String(body)),
  } as unknown as TransportResponse;
  const responder = new HttpResponder(response, { clock: systemClock, unsent }, () => undefined);
  responder.enter({ gate, use: new RealmUse(systemClock) }, () => "user 7");
  return { journal, gate, unsent, sent, response, responder };
}

const get = { method: "GET", fetchSite: "", origin: "", forwarded: { address: null, isSecure: null } } as RequestHead;

t.test("[M1] an answer leaves when everything that it may show is durable", async (t) => {
  const { journal, sent, responder } = heldResponder();
  responder.answer({ status: 200, body: "answer", headers: [] }, get);
  t.strictSame(sent, []);
  t.ok(responder.isOver, "nothing else is answered");
  journal.flush();
  t.strictSame(sent, ["answer"]);
});

t.test("[M9] an answer that shows nothing of the turns under way does not wait for them", async (t) => {
  const { gate, sent, responder } = heldResponder();
  gate.reads.noteRead("users");
  responder.answer({ status: 200, body: "users", headers: [] }, get, true);
  t.strictSame(sent, ["users"]);
});

t.test("[S3] a large answer that waits for the disk counts as unsent; without room a GET gets 503", async (t) => {
  const large = "x".repeat(limits.answer_small_bytes_max + 1);
  const waiting = heldResponder({ bytesMax: large.length });
  waiting.responder.answer({ status: 200, body: large, headers: [] }, get);
  t.notOk(waiting.unsent.hasRoomFor("user 7"));
  waiting.response.close();
  t.ok(waiting.unsent.hasRoomFor("user 7"), "its client has gone");
  const without = heldResponder({ bytesMax: 1 });
  without.responder.answer({ status: 200, body: large, headers: [] }, get);
  without.journal.flush();
  t.match(without.sent.join(""), /503 Service Unavailable.*OVERLOADED/s);
});
