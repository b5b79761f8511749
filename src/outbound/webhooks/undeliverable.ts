/** Why a message could not be given to its receiver, or the answer not be understood. */
import type { WebhookFailure } from "../../../schemas/webhooks.ts";

export class Undeliverable extends Error {
  override readonly name = "Undeliverable";
  readonly failure: WebhookFailure;
  /** Of the answer; 0: there was none. */
  readonly status: number;

  constructor(failure: WebhookFailure, status = 0) {
    super(failure);
    this.failure = failure;
    this.status = status;
  }
}
