/**
 * Marks content for reindexing by search (architecture, Search): one small row in the turn of the change; the index is
 * updated in the background. New messages need no mark, because the index stores how far it has read. Deletions and
 * moves need none either.
 */
import type { ConversationId } from "../../schemas/ids.ts";
import { searchPendingKinds } from "../../schemas/search.ts";
import { type Effect, effects } from "../protocol/decision.ts";

/** The message's content changed. */
export function refileMessage(id: number): Effect {
  return effects.put("searchPending", [searchPendingKinds.message, id], {});
}

/** The conversation's topic was renamed. */
export function refileTopic(conversationId: ConversationId): Effect {
  return effects.put("searchPending", [searchPendingKinds.topic, conversationId], {});
}
