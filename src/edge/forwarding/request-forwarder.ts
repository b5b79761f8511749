/**
 * Forwards one HTTP request to the node that serves its organization, and its answer back. A request that no node has
 * seen waits for one. One that a node may have executed is sent again only if that has no further effect.
 */

import type { IncomingMessage } from "node:http";
import { refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import { getEvents } from "../../../schemas/register.ts";
import type { ByteBudget } from "../../runtime/byte-budget.ts";
import type { Clock } from "../../runtime/clock.ts";
import { type Refused, refused } from "../http/reply.ts";
import { apiPrefix } from "../http/request-head.ts";
import { writeRefused } from "../http/write-refused.ts";
import type { TransportResponse } from "../transport/transport.ts";
import { passAnswer } from "./answer-passing.ts";
import { BodyPipe } from "./body-pipe.ts";
import { addressOf, type ClusterRoutes } from "./directions.ts";
import type { ForwardedHead } from "./forwarded-head.ts";
import type { KeptBytes } from "./kept-bytes.ts";
import { elsewhereHeader, type ForwardedClient } from "./node-header.ts";
import type { Upstream, Upstreams } from "./upstreams.ts";

export interface ForwardingTools {
  readonly directions: ClusterRoutes;
  readonly upstreams: Upstreams;
  readonly clock: Clock;
  /** Memory for bodies that may be sent again. */
  readonly budget: ByteBudget;
  /** Memory for answers that are not whole yet. */
  readonly answers: KeptBytes;
  readonly reportBug: (error: unknown, what: string) => void;
}

export interface ArrivedRequest {
  readonly response: TransportResponse;
  readonly head: ForwardedHead;
  readonly client: ForwardedClient;
  /** Nothing after the body on the client's connection can be trusted. */
  readonly isUncertain: boolean;
}

const pollPath = `${apiPrefix}${getEvents.path}`;

/** How one attempt ended. */
type Outcome = "answered" | "unseen" | "lost";

export class RequestForwarder {
  readonly #tools: ForwardingTools;
  readonly #arrived: ArrivedRequest;
  readonly #body: BodyPipe;
  #upstream: Upstream | null = null;
  #stopPassing: () => void = () => undefined;
  /** The client has received a part of the answer or is about to. */
  #isPassing = false;
  #isOver = false;
  /** How long the search for a node may take; it starts anew when one is lost. */
  #searchUntil: number;
  readonly #onEnd: () => void;

  /** @param onEnd called once */
  constructor(tools: ForwardingTools, arrived: ArrivedRequest, onEnd: () => void) {
    this.#tools = tools;
    this.#arrived = arrived;
    this.#onEnd = onEnd;
    this.#searchUntil = tools.clock.monotonic() + limits.forward_wait_ms_max;
    const { response, head, client } = arrived;
    response.onAborted(() => this.#end());
    this.#body = new BodyPipe(response, head, { budget: tools.budget, sender: client.address });
    this.#run().catch((error: unknown) => {
      tools.reportBug(error, "forwarding");
      if (!this.#isOver) response.close();
      this.#end();
    });
  }

  /** This node stops: a poll would be held by its owner for long. */
  dismissPoll(): void {
    const { method, path } = this.#arrived.head;
    if (method === "GET" && path.split("?", 1)[0] === pollPath && !this.#isPassing) {
      this.#refuse(refused(refuse.shuttingDown()));
    }
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopPassing();
    this.#upstream?.release();
    this.#body.close();
    this.#onEnd();
  }

  async #run(): Promise<void> {
    const { directions, clock } = this.#tools;
    const { head } = this.#arrived;
    if (!(await this.#body.ready)) {
      this.#refuse(refused(refuse.overloaded()));
      return;
    }
    while (!this.#isOver) {
      const outcome = await this.#attempt();
      if (outcome === "answered" || this.#isOver) return;
      if (outcome === "lost") this.#searchUntil = clock.monotonic() + limits.forward_wait_ms_max;
      const mayRepeat = this.#body.isWhole && (outcome === "unseen" || head.isRepeatable);
      if (!mayRepeat || clock.monotonic() >= this.#searchUntil) {
        this.#refuse(refused(refuse.ownerUnreachable()));
        return;
      }
      await directions.onceChanged(limits.forward_pause_ms);
    }
  }

  async #attempt(): Promise<Outcome> {
    const { directions, upstreams } = this.#tools;
    const { head, client } = this.#arrived;
    const destination = addressOf(directions.destinationOf(head.host), directions);
    if (destination === null) return "unseen";
    const upstream = upstreams.open(destination, head, client);
    this.#upstream = upstream;
    this.#body.flowTo(upstream.request);
    const answer = await upstream.answer;
    if (this.#isOver) return "answered";
    if (answer.kind !== "answered") return answer.kind;
    if (isElsewhere(answer.message)) {
      answer.message.resume();
      return "unseen";
    }
    return this.#pass(answer.message);
  }

  async #pass(message: IncomingMessage): Promise<Outcome> {
    const { response, head } = this.#arrived;
    this.#isPassing = true;
    const passed = await passAnswer(message, {
      response,
      answers: this.#tools.answers,
      method: head.method,
      clock: this.#tools.clock,
      // The rest of a body that the node has not read is on the client's connection.
      closesConnection: () => this.#isLast,
      isOver: () => this.#isOver,
      mayAskAgain: head.isRepeatable && this.#body.isWhole,
      onAbort: (stop) => {
        this.#stopPassing = stop;
      },
    });
    this.#isPassing = false;
    if (passed !== "passed") return passed;
    this.#end();
    return "answered";
  }

  #refuse(reply: Refused): void {
    if (this.#isOver) return;
    const { response, client } = this.#arrived;
    writeRefused(response, reply, { isSecure: client.isSecure, closesConnection: this.#isLast });
    this.#end();
  }

  /** Whether the client's connection cannot be used again. */
  get #isLast(): boolean {
    return this.#arrived.isUncertain || !this.#body.isRead;
  }
}

function isElsewhere({ headers }: IncomingMessage): boolean {
  return headers[elsewhereHeader] !== undefined;
}
