/** Answers that cannot be made: a bug of one operation is its own answer, and the socket goes on (M6). */

import { Packr } from "msgpackr";
import t from "tap";
import { getAlertWords } from "../../schemas/alert-words.ts";
import { refuse } from "../../schemas/errors.ts";
import { newValueBudget } from "../../schemas/json.ts";
import { Router } from "../../src/edge/http/router.ts";
import { Hub } from "../../src/edge/realtime/hub.ts";
import { unpackJson } from "../../src/edge/realtime/packed-json.ts";
import type { Format } from "../../src/edge/realtime/socket-frames.ts";
import { RequestReader } from "../../src/edge/realtime/socket-operations.ts";
import { SocketSession } from "../../src/edge/realtime/socket-session.ts";
import { UnauthenticatedSockets } from "../../src/edge/realtime/unauthenticated-sockets.ts";
import { Counter } from "../../src/metrics/instruments.ts";
import { type Binding, bind, bindProjected } from "../../src/operations/calls.ts";
import { createOperationExecutor } from "../../src/operations/execution/operation-executor.ts";
import { noRates, RateLimits } from "../../src/operations/rate-limits.ts";
import { ok } from "../../src/runtime/results.ts";
import { openNewRealm, ownerId } from "../support/runtime.ts";
import { wireMemory } from "../support/wire-memory.ts";

const unreadable = {
  get alert_words(): string[] {
    throw new Error("a bug");
  },
};
const faults: Readonly<Record<string, Binding>> = {
  "a handler that throws": bind(getAlertWords, () => ok(unreadable.alert_words as never)),
  "an answer that cannot be encoded": bind(getAlertWords, () => ok(unreadable)),
  "one that comes later": bind(getAlertWords, async () => ok(unreadable)),
  "a projection that throws later": bindProjected(
    getAlertWords,
    async () => ok({ alert_words: [] }),
    () => ok({ alert_words: unreadable.alert_words }),
  ),
};

for (const format of ["json", "msgpack"] as const satisfies readonly Format[]) {
  for (const [fault, binding] of Object.entries(faults)) {
    t.test(`[M6] ${format}: ${fault} is answered with 500 alone, and reported`, async (t) => {
      const { realm } = await openNewRealm(t);
      const monotonic = () => realm.view.now;
      const bugs: unknown[] = [];
      const reportBug = (error: unknown) => bugs.push(error);
      const hub = new Hub(realm, { limitsPresence: false, reportBug });
      const { unsent, inFlight } = wireMemory(monotonic);
      const clock = { now: () => realm.view.now };
      const rates = new RateLimits(noRates, monotonic);
      const executor = createOperationExecutor({
        bindings: [binding],
        rates,
        reportBug,
        clock,
        unsent,
        fileBytesMax: 1,
      });
      const requests = new RequestReader(executor, new Router(executor.operations));
      let told: (reply: unknown) => void = () => undefined;
      const connection = {
        send(data: string | Buffer) {
          const bytes = Buffer.from(data);
          told(format === "json" ? JSON.parse(String(bytes)) : unpackJson(bytes, newValueBudget()));
          return 1;
        },
        sendFirstFragment: () => 1,
        sendFragment: () => 1,
        sendLastFragment: () => 1,
        getBufferedAmount: () => 0,
        end: () => undefined,
      };
      const visitor = { format, client: "test", siteUrl: "http://localhost", userAgent: "test", address: "" };
      const host = {
        ...{ realm, hub, executor, requests, unsent, inFlight },
        verify: () => refuse.notLoggedIn(),
        limitFrame: () => null,
        closed: new Counter<string>("code", []),
        admit: () => true,
        leave: () => undefined,
        unauthenticated: new UnauthenticatedSockets({ monotonic }),
      };
      const session = new SocketSession(connection, host, visitor);
      const caller = realm.view.users.get(ownerId);
      if (caller === undefined) throw new Error("there is no owner");
      session.start({ caller, keyHash: [...realm.view.apiKeysOf(ownerId)][0]?.hash ?? "", isSession: false });
      const ask = (frame: object) => {
        const reply = new Promise((resolve) => {
          told = resolve;
        });
        const bytes =
          format === "json" ? Buffer.from(JSON.stringify(frame)) : new Packr({ useRecords: false }).pack(frame);
        session.receive(bytes, format === "msgpack");
        return reply;
      };
      const call = { type: "call", ref: "1", method: "GET", path: "/users/me/alert_words" };
      t.match(await ask(call), { type: "reply", ref: "1", result: "error", code: "INTERNAL_SERVER_ERROR" });
      t.equal(bugs.length, 1);
      t.strictSame(await ask({ type: "ping", ref: "2" }), { type: "pong", ref: "2" });
      session.closed();
    });
  }
}
