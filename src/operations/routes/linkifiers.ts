/** Linkifiers (public API: /realm/linkifiers, /realm/filters). */
import { command } from "../../../actors/protocol/decision.ts";
import { linksOf, refuseLinkifier } from "../../../domain/linkifier-input.ts";
import {
  addLinkifier,
  getLinkifiers,
  previewLinkifier,
  removeLinkifier,
  reorderLinkifiers,
  updateLinkifier,
} from "../../../schemas/linkifiers.ts";
import { linkifierBodies } from "../../queries/linkifiers.ts";
import { ok } from "../../runtime/results.ts";
import { bind, requireCaller } from "../calls.ts";

const realmActor = { actor: "realm" } as const;

function inputOf(params: { readonly pattern: string; readonly url_template: string }) {
  return { pattern: params.pattern.trim(), urlTemplate: params.url_template.trim() };
}

export const linkifierRoutes = [
  bind(getLinkifiers, ({ realm }) => ok({ linkifiers: linkifierBodies(realm.view) })),

  bind(addLinkifier, (call) => {
    return call.realm.dispatcher.ask(
      command(realmActor, "linkifier.add", inputOf(call.params), requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(previewLinkifier, ({ params }) => {
    const input = inputOf(params);
    return refuseLinkifier(input) ?? ok({ links: linksOf(input, params.text) });
  }),

  bind(updateLinkifier, (call) => {
    const update = { id: call.params.filter_id, ...inputOf(call.params) };
    return call.realm.dispatcher.ask(
      command(realmActor, "linkifier.update", update, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(removeLinkifier, (call) => {
    return call.realm.dispatcher.ask(
      command(realmActor, "linkifier.remove", { id: call.params.filter_id }, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),

  bind(reorderLinkifiers, (call) => {
    const order = call.params.ordered_linkifier_ids;
    return call.realm.dispatcher.ask(
      command(realmActor, "linkifier.reorder", { order }, requireCaller(call).id),
      call.idempotencyKey,
    );
  }),
];
