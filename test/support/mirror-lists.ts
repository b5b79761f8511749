/**
 * A client's copies of the lists of its user and of its organization, changed by events as the public API says
 * (/events).
 */

import { merged } from "../areas/index.ts";
import { type Apply, type Json, reduced } from "../areas/lists.ts";

/** By event type; each is a state type, too. */
export const listAppliers: Readonly<Record<string, Apply>> = merged(({ lists }) => lists?.appliers);

export const listTypes = Object.keys(listAppliers);

const orders = merged(({ lists }) => lists?.keys);

/** The lists' names in the state. */
export const listKeys = Object.keys(orders);

export function applyLists(state: Json, events: readonly Json[]): void {
  for (const event of events) {
    // A setting empties the list of drafts.
    if (event.type === "user_settings") reduced(state, event);
    listAppliers[event.type]?.(state, event);
  }
}

/** Sorted where the order has no meaning. */
export function listsSnapshot(state: Json): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(orders).map(([key, order]) => {
      const value = state[key];
      if (order === "ordered") return [key, value];
      return [key, value.map((entry: Json) => JSON.stringify(Object.entries(entry).sort())).sort()];
    }),
  );
}
