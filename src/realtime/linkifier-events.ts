/** `realm_linkifiers` events (public API): the whole list, as it is when it is told. */
import { linkifierBodies } from "../queries/linkifiers.ts";
import type { EventKind } from "./event-kind.ts";

/** The list as it is now, for clients that can expand URL templates. */
export const linkifiers: EventKind = {
  key: (_view, _record, _user, queue) => (queue.can("linkifier_url_template") ? "" : null),
  build: (view) => [{ type: "realm_linkifiers", realm_linkifiers: linkifierBodies(view) }],
};
