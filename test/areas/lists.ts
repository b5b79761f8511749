/** Applies events to lists as clients do (public API, /events). */
import { applyEvent } from "../../packages/client/src/state/index.ts";

// biome-ignore lint/suspicious/noExplicitAny: state and events are JSON of any shape
export type Json = any;

export type Apply = (state: Json, event: Json) => void;

/** An event that the reducer of the client package knows. */
export function reduced(state: Json, event: Json): void {
  Object.assign(state, applyEvent(state, event, { includesSubscribers: false, unknownUser: null }));
}
