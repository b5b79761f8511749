/** Answers leave through the server's own responder, so they wait for the gate as they do over HTTP (M1, M9). */

import type { DurabilityGate } from "../../src/durability/journal/durability-gate.ts";
import { HttpResponder } from "../../src/edge/http/http-responder.ts";
import type { TransportResponse } from "../../src/edge/transport/transport.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import { RealmUse } from "../../src/runtime/realm.ts";
import { wireMemory } from "../support/wire-memory.ts";

/** Answers here have no body, so none is ever unsent. */
const { unsent } = wireMemory(() => 0);

/** A request that was received and not answered. */
export class OpenRequest {
  readonly #responder: HttpResponder;
  #leave: () => void = () => undefined;
  #abort: () => void = () => undefined;

  constructor(gate: DurabilityGate, clock: Clock) {
    this.#responder = new HttpResponder(this.#response(), { clock, unsent }, ignored);
    this.#responder.enter({ gate, use: new RealmUse(clock) });
  }

  /**
   * @param leave runs when the client gets the answer; never, if the machine goes down or the client hangs up before
   * @param isImmediate everything since the request arrived was synchronous
   */
  answer(leave: () => void, isImmediate = false): void {
    this.#leave = leave;
    this.#responder.answer({ status: 200, body: "", headers: [] }, null, isImmediate);
  }

  onAbort(callback: () => void): void {
    this.#responder.onAbort(callback);
  }

  /** The client hangs up. */
  abort(): void {
    this.#abort();
  }

  #response(): TransportResponse {
    return {
      onAborted: (handler) => {
        this.#abort = handler;
      },
      cork: (work) => work(),
      writeStatus: ignored,
      writeHeader: ignored,
      end: () => this.#leave(),
      onData: unused,
      pause: unused,
      resume: unused,
      endWithoutBody: unused,
      tryEnd: unused,
      getWriteOffset: unused,
      onWritable: unused,
      close: unused,
      getRemoteAddressAsText: unused,
    };
  }
}

const ignored = () => undefined;

function unused(): never {
  throw new Error("an answer here has no body");
}
