/** Saved snippets (spec 4.19; behaviour 2.19): a person's own; texts come trimmed and within their bounds. */
import { refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { savedSnippetBody } from "../../src/domain/saved-snippets.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";

export function addSavedSnippet(_context: unknown, command: Command<"saved-snippets.add">, view: View): Outcome {
  const user = callerOf(command, view);
  if (user === null) return refuse.noSuchUser();
  const countMax = limits.saved_snippets_per_user_max;
  const range = { start: [user.id], end: [user.id + 1], limit: countMax };
  if (view.keys("savedSnippets", range).length >= countMax) return refuse.badRequest("Too many saved snippets");
  const { title, content } = command.params;
  const snippet = { id: view.counter("savedSnippet") + 1, userId: user.id, title, content, createdAt: view.now };
  return done({ saved_snippet_id: snippet.id }, [
    effects.count("savedSnippet", snippet.id),
    effects.put("savedSnippets", [user.id, snippet.id], snippet),
    tell(user.id, { op: "add", saved_snippet: savedSnippetBody(snippet) }),
  ]);
}

/** What is not passed stays; nobody is told of nothing. */
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
    tell(user.id, { op: "update", saved_snippet: savedSnippetBody(snippet) }),
  ]);
}

export function removeSavedSnippet(_context: unknown, command: Command<"saved-snippets.remove">, view: View): Outcome {
  const user = callerOf(command, view);
  if (user === null) return refuse.noSuchUser();
  const { id } = command.params;
  if (view.row("savedSnippets", [user.id, id]) === undefined) return doesNotExist();
  return done({}, [
    effects.remove("savedSnippets", [user.id, id]),
    tell(user.id, { op: "remove", saved_snippet_id: id }),
  ]);
}

const doesNotExist = () => refuse.notFound("Saved snippet does not exist.");

function tell(userId: number, body: Readonly<Record<string, unknown>>): Effect {
  return effects.emit("saved_snippets", body, { to: "users", ids: [userId] });
}
