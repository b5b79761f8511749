/** Saved snippets (spec 4.19; behaviour 2.19): a user's own. Texts are already trimmed and checked for length. */

import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import type { StoredBody } from "../../schemas/events.ts";
import { limits } from "../../schemas/limits.ts";
import { savedSnippetBody } from "../../schemas/saved-snippets.ts";
import type { Command } from "../protocol/commands.ts";
import { callerOf, done, type Outcome } from "../protocol/decide.ts";
import { type Effect, effects } from "../protocol/effects.ts";

export function addSavedSnippet(_context: unknown, command: Command<"saved-snippets.add">, view: View): Outcome {
  const user = callerOf(command, view);
  if (user === null) return refuse.noSuchUser();
  const countMax = limits.saved_snippets_per_user_max;
  const range = { start: [user.id], end: [user.id + 1], limit: countMax };
  if (view.keys("savedSnippets", range).length >= countMax) return refuse.badRequest("Too many saved snippets");
  const { title, content } = command.params;
  const snippet = { id: view.counter("savedSnippet") + 1, userId: user.id, title, content, createdAt: view.now };
  return done({ saved_snippet_id: snippet.id }, [
    effects.setCounter("savedSnippet", snippet.id),
    effects.put("savedSnippets", [user.id, snippet.id], snippet),
    eventFor(user.id, { op: "add", saved_snippet: savedSnippetBody(snippet) }),
  ]);
}

/** Values that are not passed are kept. No event is emitted if nothing changes. */
export function updateSavedSnippet(_context: unknown, command: Command<"saved-snippets.update">, view: View): Outcome {
  const user = callerOf(command, view);
  if (user === null) return refuse.noSuchUser();
  const { id } = command.params;
  const before = view.row("savedSnippets", [user.id, id]);
  if (before === undefined) return doesNotExist();
  const title = command.params.title ?? before.title;
  const content = command.params.content ?? before.content;
  if (title === before.title && content === before.content) return done({}, []);
  const snippet = { ...before, title, content };
  return done({}, [
    effects.put("savedSnippets", [user.id, id], snippet),
    eventFor(user.id, { op: "update", saved_snippet: savedSnippetBody(snippet) }),
  ]);
}

export function removeSavedSnippet(_context: unknown, command: Command<"saved-snippets.remove">, view: View): Outcome {
  const user = callerOf(command, view);
  if (user === null) return refuse.noSuchUser();
  const { id } = command.params;
  if (view.row("savedSnippets", [user.id, id]) === undefined) return doesNotExist();
  return done({}, [
    effects.remove("savedSnippets", [user.id, id]),
    eventFor(user.id, { op: "remove", saved_snippet_id: id }),
  ]);
}

const doesNotExist = () => refuse.notFound("Saved snippet does not exist.");

function eventFor(userId: number, body: StoredBody<"saved_snippets">): Effect {
  return effects.emit("saved_snippets", body, { to: "users", ids: [userId] });
}

export const savedSnippetsDecisions = {
  "saved-snippets.add": addSavedSnippet,
  "saved-snippets.update": updateSavedSnippet,
  "saved-snippets.remove": removeSavedSnippet,
} as const;
