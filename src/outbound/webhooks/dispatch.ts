/**
 * What all webhook couriers of the server share: a few requests at a time, an end to each, and the log, which gets ids and codes
 * only: no URL, no token, no text (S2).
 */
import type { WebhookReply } from "../../../actors/commands.ts";
import { limits } from "../../../schemas/limits.ts";
import type { WebhookDeliveryRecord } from "../../../schemas/records.ts";
import type { WebhookFailure, WebhookRequest } from "../../../schemas/webhooks.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Realm } from "../../runtime/realm.ts";
import { Gate } from "../gate.ts";
import { replyIn } from "./answers.ts";
import { post } from "./client.ts";
import { Undeliverable } from "./undeliverable.ts";

type View = Realm["view"];

/** What it wants of a logger. */
export interface WebhookLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface WebhookDispatchOptions {
  readonly clock: Clock;
  readonly log: WebhookLog;
  readonly mayBePrivate: boolean;
  /** What is to be sent now (queries/webhooks.ts). */
  readonly requestOf: (view: View, row: WebhookDeliveryRecord) => WebhookRequest | WebhookFailure | null;
  /** A reply as a message of the bot; null: it can be none. */
  readonly compose: (view: View, botId: number, content: string) => WebhookReply | null;
}

export type WebhookOutcome =
  | { readonly kind: "answered"; readonly reply: WebhookReply | null }
  | { readonly kind: "failed"; readonly failure: WebhookFailure; readonly status: number }
  | { readonly kind: "interrupted" };

export class WebhookDispatch {
  readonly log: WebhookLog;
  readonly #options: WebhookDispatchOptions;
  readonly #gate: Gate;

  constructor(options: WebhookDispatchOptions) {
    this.log = options.log;
    this.#options = options;
    this.#gate = new Gate({
      clock: options.clock,
      concurrentMax: limits.webhook_deliveries_concurrent_max,
      msMax: limits.webhook_delivery_ms_max,
      drainMsMax: limits.webhook_drain_ms_max,
    });
  }

  /** Never rejects. */
  async deliver(view: View, row: WebhookDeliveryRecord): Promise<WebhookOutcome> {
    const passed = await this.#gate.pass((signal) => this.#exchange(view, row, signal));
    if (passed.kind === "done") return { kind: "answered", reply: passed.value };
    if (passed.kind === "interrupted") return passed;
    const { error, isLate } = passed;
    if (isLate) return { kind: "failed", failure: "timed-out", status: 0 };
    if (error instanceof Undeliverable) return { kind: "failed", failure: error.failure, status: error.status };
    return { kind: "failed", failure: "unreachable", status: 0 };
  }

  /** @throws Undeliverable, or whatever the connection came to */
  async #exchange(view: View, row: WebhookDeliveryRecord, signal: AbortSignal): Promise<WebhookReply | null> {
    const { requestOf, mayBePrivate, compose } = this.#options;
    const request = requestOf(view, row);
    if (request === null) return null;
    if (typeof request === "string") throw new Undeliverable(request);
    const content = replyIn(await post(request, mayBePrivate, signal), request.interfaceType);
    if (content === null) return null;
    const reply = compose(view, row.botId, content);
    if (reply === null) throw new Undeliverable("invalid-content");
    return reply;
  }

  /** Takes no more; what has no answer by the end of a moment is sent again after the next start. */
  close(): Promise<void> {
    return this.#gate.close();
  }
}
