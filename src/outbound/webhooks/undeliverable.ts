/** Why a message could not be delivered to its receiver, or the response could not be understood. */
import type { WebhookFailure } from "../../../schemas/webhooks.ts";

export class Undeliverable extends Error {
  override readonly name = "Undeliverable";
  readonly failure: WebhookFailure;
  /** HTTP status of the response; 0 if there was none. */
  readonly status: number;

  constructor(failure: WebhookFailure, status = 0) {
    super(failure);
    this.failure = failure;
    this.status = status;
  }
}
