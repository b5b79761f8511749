/** Generated from schemas/ by `npm run client:api`; do not edit. */
import type { WebhookMessage } from "./type-webhook-message.ts";
export interface WebhooksOperations {
  /** Returns what an outgoing webhook would receive for a message of the caller, without sending it (spec 4.21, 6; D23). */
  "POST /service-outgoing-webhook": {
    readonly params: Readonly<Record<never, never>>;
    readonly result: {
      readonly bot_email: string;
      readonly bot_full_name: string;
      readonly data: string;
      readonly trigger: "direct_message" | "mention";
      readonly token: string;
      readonly message: WebhookMessage;
    };
  };
}
