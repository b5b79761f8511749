/**
 * An example payload of outgoing webhooks (spec 4.21; D23), for developers of receivers. Sending is in
 * outbound/webhooks.
 */
import { serviceOutgoingWebhook } from "../../../schemas/webhooks.ts";
import { representativePayload } from "../../queries/webhooks.ts";
import { ok } from "../../runtime/results.ts";
import { bind, requireCaller } from "../calls.ts";

export const webhookRoutes = [
  bind(serviceOutgoingWebhook, (call) => ok(representativePayload(call.realm.view, requireCaller(call), call.siteUrl))),
];
