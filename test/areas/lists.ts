/** Applies events to lists as clients do (public API, /events). */
import { applyEvent } from "../../packages/client/src/state/index.ts";

// biome-ignore lint/suspicious/noExplicitAny: state and events are JSON of any shape
export type Json = any;

export type Apply = (state: Json, event: Json) => void;

/** An event that the reducer of the client package knows. */
export function reduced(state: Json, event: Json): void {
  Object.assign(state, applyEvent(state, event, { includesSubscribers: false, unknownUser: null }));
}

/** A list of an area that it does not know, whose events add, change or remove entries. */
export function list(
  name: string,
  id: string,
  fields: { one: string; many?: string; changes?: string; gone: string },
): Apply {
  return (state, event) => {
    const is = (wanted: unknown) => (record: Json) => record[id] === wanted;
    switch (event.op) {
      case "add":
        state[name].push(...(fields.many === undefined ? [event[fields.one]] : event[fields.many]));
        return;
      case "update": {
        const changes = event[fields.changes ?? fields.one];
        Object.assign(state[name].find(is(changes[id] ?? event[fields.gone])) ?? {}, changes);
        return;
      }
      case "remove":
        state[name] = state[name].filter((record: Json) => !is(event[fields.gone])(record));
        return;
      default:
        throw new Error(`${event.type} ${event.op}`);
    }
  };
}
