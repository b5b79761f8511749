/**
 * Linkifiers of an organization (public API: /realm/linkifiers). They apply when a message is posted or edited;
 * existing messages keep their links.
 */

import { refuseLinkifier } from "../../domain/linkifier-input.ts";

import type { View } from "../../domain/view.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { LinkifierInput } from "../../schemas/linkifiers.ts";

import { done, effects, forAdministrator, type Outcome, type Params } from "../protocol/decision.ts";

/** Sent to clients that can expand URL templates. It contains the whole list, read on delivery. */
const linkifiersEvent = effects.emit("realm_linkifiers", {}, { to: "realm" });

/** POST /realm/filters. A new linkifier is appended to the order. */
export function addLinkifier(params: Params<"linkifier.add">, view: View): Outcome {
  const { pattern, urlTemplate } = params;
  const refused = refuseInput(view, params, null);
  if (refused !== null) return refused;
  if (view.linkifiers.length >= limits.linkifiers_max) return refuse.badRequest("Too many linkifiers");
  const id = view.counter("linkifier") + 1;
  const order = 1 + Math.max(0, ...view.linkifiers.map((each) => each.order));
  return done({ id }, [
    effects.setCounter("linkifier", id),
    effects.put("linkifiers", id, { id, pattern, urlTemplate, order }),
    linkifiersEvent,
  ]);
}

/** PATCH /realm/filters/{filter_id}. */
export function updateLinkifier(params: Params<"linkifier.update">, view: View): Outcome {
  const { id, pattern, urlTemplate } = params;
  const before = view.linkifiers.find((each) => each.id === id);
  if (before === undefined) return notFound();
  const refused = refuseInput(view, params, id);
  if (refused !== null) return refused;
  if (before.pattern === pattern && before.urlTemplate === urlTemplate) return done({}, []);
  return done({}, [effects.put("linkifiers", id, { ...before, pattern, urlTemplate }), linkifiersEvent]);
}

/** DELETE /realm/filters/{filter_id}. */
export function removeLinkifier(params: Params<"linkifier.remove">, view: View): Outcome {
  if (!view.linkifiers.some((each) => each.id === params.id)) return notFound();
  return done({}, [effects.remove("linkifiers", params.id), linkifiersEvent]);
}

/** PATCH /realm/linkifiers. */
export function reorderLinkifiers({ order }: Params<"linkifier.reorder">, view: View): Outcome {
  const places = new Map(order.map((id, index) => [id, index + 1]));
  const isWhole = places.size === order.length && order.length === view.linkifiers.length;
  if (!isWhole || view.linkifiers.some(({ id }) => !places.has(id))) {
    return refuse.badRequest("The ordered list must enumerate all existing linkifiers exactly once");
  }
  if (view.linkifiers.every(({ id }, index) => order[index] === id)) return done({}, []);
  const rows = view.linkifiers.map((each) =>
    effects.put("linkifiers", each.id, { ...each, order: places.get(each.id) ?? each.order }),
  );
  return done({}, [...rows, linkifiersEvent]);
}

function notFound(): Refusal {
  return refuse.badRequest("Linkifier not found.");
}

/** @param id id of the linkifier that changes; null: a new one */
function refuseInput(view: View, input: LinkifierInput, id: number | null): Refusal | null {
  if (view.linkifiers.some((each) => each.id !== id && each.pattern === input.pattern)) {
    return refuse.badRequest("Realm filter with this Realm and Pattern already exists.");
  }
  return refuseLinkifier(input);
}

export const linkifiersDecisions = {
  "linkifier.add": forAdministrator(addLinkifier),
  "linkifier.update": forAdministrator(updateLinkifier),
  "linkifier.remove": forAdministrator(removeLinkifier),
  "linkifier.reorder": forAdministrator(reorderLinkifiers),
} as const;
