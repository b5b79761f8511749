/**
 * A client's copy of unread and starred messages: those of a state, changed by events as clients do (behaviour 4.4).
 */
import { applyEvent, type ChatState, chatStateOf } from "../../packages/client/src/state/index.ts";

// biome-ignore lint/suspicious/noExplicitAny: state and events are JSON of any shape
type Json = any;

const options = { includesSubscribers: false, unknownUser: null };
const types: ReadonlySet<string> = new Set(["message", "update_message", "update_message_flags", "delete_message"]);

export class FlagsMirror {
  #state: ChatState;

  constructor(state: Json) {
    this.#state = chatStateOf(state);
  }

  apply(event: Json): void {
    if (types.has(event.type)) this.#state = applyEvent(this.#state, event, options);
  }

  picture() {
    return flagsPicture(this.#state);
  }
}

/** Each unread message with its place: "channel:topic", or the other participants' ids. */
export function flagsPicture({ unread, starred }: ChatState) {
  const places = [...unread].flatMap(([place, ids]) => ids.map((id): [number, string] => [id, place]));
  return { unread: places.sort(([a], [b]) => a - b), starred: [...starred].sort((a, b) => a - b) };
}
