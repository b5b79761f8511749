/** Saved snippets (spec 4.19, D12; public API: get, create, edit and delete). */
import { command } from "../../../actors/commands.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import {
  createSavedSnippet,
  deleteSavedSnippet,
  editSavedSnippet,
  getSavedSnippets,
} from "../../../schemas/saved-snippets.ts";
import { codePoints } from "../../domain/text.ts";
import { listSavedSnippets } from "../../queries/saved-snippets.ts";
import { bind, type Call, callerOf } from "../../runtime/calls.ts";
import { ok } from "../../runtime/entry.ts";

export const savedSnippetRoutes = [
  bind(getSavedSnippets, (call) => ok({ saved_snippets: listSavedSnippets(call.realm.view, callerOf(call)) })),

  bind(createSavedSnippet, (call) => {
    const content = call.params.content.trim();
    const title = call.params.title.trim();
    const refused = checkTexts({ content, title });
    if (refused !== null) return refused;
    const asked = command(self(call), "saved-snippets.add", { title, content }, callerOf(call).id);
    return call.realm.dispatcher.ask(asked, call.claim);
  }),

  bind(editSavedSnippet, (call) => {
    const content = call.params.content?.trim() ?? null;
    const title = call.params.title?.trim() ?? null;
    const refused = checkTexts({ content, title });
    if (refused !== null) return refused;
    const params = { id: call.params.saved_snippet_id, title, content };
    const asked = command(self(call), "saved-snippets.update", params, callerOf(call).id);
    return call.realm.dispatcher.ask(asked, call.claim);
  }),

  bind(deleteSavedSnippet, (call) => {
    const params = { id: call.params.saved_snippet_id };
    const asked = command(self(call), "saved-snippets.remove", params, callerOf(call).id);
    return call.realm.dispatcher.ask(asked, call.claim);
  }),
];

function self(call: Call) {
  return { actor: "user", id: callerOf(call).id } as const;
}

const bounds = {
  content: limits.message_code_points_max,
  title: limits.saved_snippet_title_code_points_max,
} as const;

/** One text for both when empty (D12); null is what was not passed. */
function checkTexts(texts: Readonly<Record<keyof typeof bounds, string | null>>): Refusal | null {
  for (const name of ["content", "title"] as const) {
    const text = texts[name];
    if (text === "") return refuse.badRequest("Title cannot be empty.");
    if (text !== null && codePoints(text) > bounds[name]) {
      return refuse.badRequest(`${name} is too long (limit: ${bounds[name]} characters)`);
    }
  }
  return null;
}
