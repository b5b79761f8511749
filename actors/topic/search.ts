/**
 * What has to be filed in the search index again (architecture, Search): one small row, in the turn of the change; the index follows
 * when nobody posts. A new message needs none: the index knows how far it is. Nor does one that is deleted or moved.
 */
import { searchPendingKinds } from "../../schemas/records/search.ts";
import { type Effect, effects } from "../effects.ts";

/** A message whose content is another one now. */
export function refileMessage(id: number): Effect {
  return effects.put("searchPending", [searchPendingKinds.message, id], {});
}

/** A conversation whose topic has another name now. */
export function refileTopic(conversationId: number): Effect {
  return effects.put("searchPending", [searchPendingKinds.topic, conversationId], {});
}
