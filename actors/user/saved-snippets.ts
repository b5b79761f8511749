/** Saved snippets (spec 4.19; behaviour 2.19): a user's own. Texts are already trimmed and checked for length. */

import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import type { StoredBody } from "../../schemas/events.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import { savedSnippetBody } from "../../schemas/saved-snippets.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Params } from "../protocol/commands.ts";
import { done, forUser, type Outcome } from "../protocol/decide.ts";
import { type Effect, effects } from "../protocol/effects.ts";

export function addSavedSnippet(
  user: UserRecord,
  { title, content }: Params<"saved-snippets.add">,
  view: View,
): Outcome {
  const countMax = limits.saved_snippets_per_user_max;
  const range = { start: [user.id], end: [user.id + 1], limit: countMax };
  if (view.keys("savedSnippets", range).length >= countMax) return refuse.badRequest("Too many saved snippets");

  const snippet = { id: view.counter("savedSnippet") + 1, userId: user.id, title, content, createdAt: view.now };
  return done({ saved_snippet_id: snippet.id }, [
    effects.setCounter("savedSnippet", snippet.id),
    effects.put("savedSnippets", [user.id, snippet.id], snippet),
    eventFor(user.id, { op: "add", saved_snippet: savedSnippetBody(snippet) }),
  ]);
}

/** Values that are not passed are kept. No event is emitted if nothing changes. */
export function updateSavedSnippet(user: UserRecord, params: Params<"saved-snippets.update">, view: View): Outcome {
  const { id } = params;
  const before = view.row("savedSnippets", [user.id, id]);
  if (before === undefined) return doesNotExist();
  const title = params.title ?? before.title;
  const content = params.content ?? before.content;
  if (title === before.title && content === before.content) return done({}, []);
  const snippet = { ...before, title, content };
  return done({}, [
    effects.put("savedSnippets", [user.id, id], snippet),
    eventFor(user.id, { op: "update", saved_snippet: savedSnippetBody(snippet) }),
  ]);
}

export function removeSavedSnippet(user: UserRecord, { id }: Params<"saved-snippets.remove">, view: View): Outcome {
  if (view.row("savedSnippets", [user.id, id]) === undefined) return doesNotExist();
  return done({}, [
    effects.remove("savedSnippets", [user.id, id]),
    eventFor(user.id, { op: "remove", saved_snippet_id: id }),
  ]);
}

const doesNotExist = () => refuse.notFound("Saved snippet does not exist.");

function eventFor(userId: UserId, body: StoredBody<"saved_snippets">): Effect {
  return effects.emit("saved_snippets", body, { to: "users", ids: [userId] });
}

export const savedSnippetsDecisions = {
  "saved-snippets.add": forUser(addSavedSnippet),
  "saved-snippets.update": forUser(updateSavedSnippet),
  "saved-snippets.remove": forUser(removeSavedSnippet),
} as const;
