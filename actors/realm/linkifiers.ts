/**
 * Linkifiers of an organization (public API: /realm/linkifiers). They apply when a message is posted or edited;
 * existing messages keep their links.
 */

import { refuseLinkifier } from "../../domain/linkifier-input.ts";
import { isAdministrator } from "../../domain/permissions.ts";
import type { View } from "../../domain/view.ts";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { LinkifierInput } from "../../schemas/linkifiers.ts";
import type { Command } from "../protocol/commands.ts";
import { callerOf, done, type Outcome } from "../protocol/decide.ts";
import { effects } from "../protocol/effects.ts";

/** Sent to clients that can expand URL templates. It contains the whole list, read on delivery. */
const linkifiersEvent = effects.emit("realm_linkifiers", {}, { to: "realm" });

/** POST /realm/filters. A new linkifier is appended to the order. */
export function addLinkifier(_context: unknown, asked: Command<"linkifier.add">, view: View): Outcome {
  const { pattern, urlTemplate } = asked.params;
  const refused = refuseCaller(asked, view) ?? refuseInput(view, asked.params, null);
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
export function updateLinkifier(_context: unknown, asked: Command<"linkifier.update">, view: View): Outcome {
  const { id, pattern, urlTemplate } = asked.params;
  const refusedCaller = refuseCaller(asked, view);
  if (refusedCaller !== null) return refusedCaller;
  const before = view.linkifiers.find((each) => each.id === id);
  if (before === undefined) return notFound();
  const refused = refuseInput(view, asked.params, id);
  if (refused !== null) return refused;
  if (before.pattern === pattern && before.urlTemplate === urlTemplate) return done({}, []);
  return done({}, [effects.put("linkifiers", id, { ...before, pattern, urlTemplate }), linkifiersEvent]);
}

/** DELETE /realm/filters/{filter_id}. */
export function removeLinkifier(_context: unknown, asked: Command<"linkifier.remove">, view: View): Outcome {
  const refused = refuseCaller(asked, view);
  if (refused !== null) return refused;
  if (!view.linkifiers.some((each) => each.id === asked.params.id)) return notFound();
  return done({}, [effects.remove("linkifiers", asked.params.id), linkifiersEvent]);
}

/** PATCH /realm/linkifiers. */
export function reorderLinkifiers(_context: unknown, asked: Command<"linkifier.reorder">, view: View): Outcome {
  const refused = refuseCaller(asked, view);
  if (refused !== null) return refused;
  const { order } = asked.params;
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

function refuseCaller(asked: Command, view: View): Refusal | null {
  const caller = callerOf(asked, view);
  return caller === null || isAdministrator(caller) ? null : refuse.administratorRequired();
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
  "linkifier.add": addLinkifier,
  "linkifier.update": updateLinkifier,
  "linkifier.remove": removeLinkifier,
  "linkifier.reorder": reorderLinkifiers,
} as const;
