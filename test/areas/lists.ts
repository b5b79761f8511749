/** Applies events to lists as clients do (public API, /events). */

// biome-ignore lint/suspicious/noExplicitAny: state and events are JSON of any shape
export type Json = any;

export type Apply = (state: Json, event: Json) => void;

/** A list whose events add, change or remove entries. */
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

/** An event that carries the whole list. */
export function whole(name: string): Apply {
  return (state, event) => {
    state[name] = event[name];
  };
}
