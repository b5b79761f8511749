/** One message on its way to the receiver of an outgoing webhook bot (spec 6; actors/delivery.ts). */
import { deliveryMachine } from "../delivery.ts";
import { abandonWebhook, webhookAnswered, webhookDue, webhookFailed } from "./deliveries.ts";

export const webhookMachine = deliveryMachine("webhook", {
  "webhook.answered": webhookAnswered,
  "webhook.failed": webhookFailed,
  "webhook.due": webhookDue,
  "webhook.abandon": abandonWebhook,
});
