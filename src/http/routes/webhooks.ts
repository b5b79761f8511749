/** What outgoing webhooks are sent (spec 4.21; D23), shown to whoever writes a receiver. Sending them: outbound/webhooks. */
import { serviceOutgoingWebhook } from "../../../schemas/webhooks.ts";
import { representativePayload } from "../../queries/webhooks.ts";
import { bind, callerOf } from "../../runtime/calls.ts";
import { ok } from "../../runtime/entry.ts";

export const webhookRoutes = [
  bind(serviceOutgoingWebhook, (call) => ok(representativePayload(call.realm.view, callerOf(call), call.siteUrl))),
];
