/**
 * Shared by all realms: a few requests at a time, a time limit for each, and the log, which gets ids and codes only:
 * no URL, token or text (S2).
 *
 * Reads a receiver's response (spec 6; behaviour 10): what its bot should post, or nothing.
 */

import { webhookInterfaces } from "../../../schemas/bots.ts";
import { parseJson } from "../../../schemas/json.ts";
import { limits } from "../../../schemas/limits.ts";
import type { WebhookDeliveryRecord, WebhookFailure, WebhookReply, WebhookRequest } from "../../../schemas/webhooks.ts";
import type { Counter } from "../../metrics/instruments.ts";
import type { DeliveryOutcome } from "../../metrics/meters.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Realm } from "../../runtime/realm.ts";
import { DeliveryLimiter } from "../delivery-limiter.ts";
import { post } from "./client.ts";
import { Undeliverable } from "./undeliverable.ts";

/** Fields that may hold the reply; the first one present counts. */
const replyFields: Readonly<Record<number, readonly string[]>> = {
  // The first one is the legacy name.
  [webhookInterfaces.generic]: ["response_string", "content"],
  [webhookInterfaces.slack]: ["text"],
};

interface Reply {
  readonly content: string;
  /** The text that the receiver wants to be added; null: none. */
  readonly widget: unknown;
}

/**
 * Returns null if nothing should be posted.
 * @throws Undeliverable
 */
function replyIn(text: string, interfaceType: number): Reply | null {
  const answer = parse(text);
  if (answer === "") return null;
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) throw new Undeliverable("invalid-format");
  const fields = answer as Readonly<Record<string, unknown>>;
  if (fields["response_not_required"] === true) return null;
  const name = replyFields[interfaceType]?.find((one) => Object.hasOwn(fields, one));
  const reply = name === undefined ? null : fields[name];
  const content = typeof reply === "string" ? reply : reply === null ? "" : JSON.stringify(reply);
  if (content.trim() === "") return null;
  return { content, widget: interfaceType === webhookInterfaces.generic ? (fields["widget_content"] ?? null) : null };
}

function parse(text: string): unknown {
  const value = parseJson(text);
  if (value === undefined) throw new Undeliverable("invalid-json");
  return value;
}

type View = Realm["view"];

/** The part of a logger that is used. */
export interface WebhookLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface WebhookDispatchOptions {
  readonly clock: Clock;
  readonly log: WebhookLog;
  readonly mayBePrivate: boolean;
  /** Builds the request to send now (queries/webhooks.ts). */
  readonly requestOf: (view: View, row: WebhookDeliveryRecord) => WebhookRequest | WebhookFailure | null;
  /** Turns a reply into a message of the bot; null if that is impossible. */
  readonly compose: (view: View, botId: number, reply: Reply) => WebhookReply | null;
  /** Absent where deliveries are not counted. */
  readonly outcomes?: Counter<DeliveryOutcome>;
}

export type WebhookOutcome =
  | { readonly kind: "answered"; readonly reply: WebhookReply | null }
  | { readonly kind: "failed"; readonly failure: WebhookFailure; readonly status: number }
  | { readonly kind: "interrupted" };

/** A turn changed or removed the row before the request left. */
class Superseded extends Error {}

export class WebhookDispatch {
  readonly log: WebhookLog;
  readonly outcomes: Counter<DeliveryOutcome> | null;
  readonly #options: WebhookDispatchOptions;
  readonly #limiter: DeliveryLimiter;

  constructor(options: WebhookDispatchOptions) {
    this.log = options.log;
    this.outcomes = options.outcomes ?? null;
    this.#options = options;
    this.#limiter = new DeliveryLimiter({
      clock: options.clock,
      concurrentMax: limits.webhook_deliveries_concurrent_max,
      msMax: limits.webhook_delivery_ms_max,
      drainMsMax: limits.webhook_drain_ms_max,
    });
  }

  /**
   * Never rejects.
   * @param mayLeave resolves when everything that the view shows is durable (M1); to false if the row is not due any more
   */
  async deliver(
    view: View,
    row: WebhookDeliveryRecord,
    mayLeave: () => Promise<boolean> = () => Promise.resolve(true),
  ): Promise<WebhookOutcome> {
    const passed = await this.#limiter.pass((signal) => this.#exchange(view, row, { signal, mayLeave }));
    if (passed.kind === "done") return { kind: "answered", reply: passed.value };
    if (passed.kind === "interrupted") return passed;
    const { error, isLate } = passed;
    if (error instanceof Superseded) return { kind: "interrupted" };
    if (isLate) return { kind: "failed", failure: "timed-out", status: 0 };
    if (error instanceof Undeliverable) return { kind: "failed", failure: error.failure, status: error.status };
    return { kind: "failed", failure: "unreachable", status: 0 };
  }

  /** @throws Undeliverable, or the connection's error */
  async #exchange(
    view: View,
    row: WebhookDeliveryRecord,
    { signal, mayLeave }: { readonly signal: AbortSignal; readonly mayLeave: () => Promise<boolean> },
  ): Promise<WebhookReply | null> {
    const { requestOf, mayBePrivate, compose } = this.#options;
    const request = requestOf(view, row);
    if (request === null) return null;
    if (typeof request === "string") throw new Undeliverable(request);
    if (!(await mayLeave())) throw new Superseded();
    const answer = replyIn(await post(request, mayBePrivate, signal), request.interfaceType);
    if (answer === null) return null;
    const reply = compose(view, row.botId, answer);
    if (reply === null) throw new Undeliverable("invalid-content");
    return reply;
  }

  /** Accepts no more deliveries; those without a response after a short wait are sent again after the next start. */
  close(): Promise<void> {
    return this.#limiter.close();
  }
}
