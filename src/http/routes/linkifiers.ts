/** Linkifiers (public API: /realm/linkifiers, /realm/filters). */
import { command } from "../../../actors/commands.ts";
import {
  addLinkifier,
  getLinkifiers,
  removeLinkifier,
  reorderLinkifiers,
  updateLinkifier,
} from "../../../schemas/linkifiers.ts";
import { linkifierBodies } from "../../queries/linkifiers.ts";
import { bind, callerOf } from "../../runtime/calls.ts";
import { ok } from "../../runtime/entry.ts";

const realmActor = { actor: "realm" } as const;

function draftOf(params: { readonly pattern: string; readonly url_template: string }) {
  return { pattern: params.pattern.trim(), urlTemplate: params.url_template.trim() };
}

export const linkifierRoutes = [
  bind(getLinkifiers, ({ realm }) => ok({ linkifiers: linkifierBodies(realm.view) })),

  bind(addLinkifier, (call) => {
    const asked = command(realmActor, "linkifier.add", draftOf(call.params), callerOf(call).id);
    return call.realm.dispatcher.ask(asked, call.claim);
  }),

  bind(updateLinkifier, (call) => {
    const update = { id: call.params.filter_id, ...draftOf(call.params) };
    return call.realm.dispatcher.ask(command(realmActor, "linkifier.update", update, callerOf(call).id), call.claim);
  }),

  bind(removeLinkifier, (call) => {
    const asked = command(realmActor, "linkifier.remove", { id: call.params.filter_id }, callerOf(call).id);
    return call.realm.dispatcher.ask(asked, call.claim);
  }),

  bind(reorderLinkifiers, (call) => {
    const order = call.params.ordered_linkifier_ids;
    const asked = command(realmActor, "linkifier.reorder", { order }, callerOf(call).id);
    return call.realm.dispatcher.ask(asked, call.claim);
  }),
];
