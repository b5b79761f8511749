/** Saved snippets (spec 4.19, D12; public API: get, create, edit and delete). */
import { command } from "../../../actors/protocol/commands.ts";
import { checkCharacters, checkLines, codePoints } from "../../../domain/text.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import {
  createSavedSnippet,
  deleteSavedSnippet,
  editSavedSnippet,
  getSavedSnippets,
} from "../../../schemas/saved-snippets.ts";
import { listSavedSnippets } from "../../queries/saved-snippets.ts";
import { ok } from "../../runtime/results.ts";
import { bind, type Call, requireCaller } from "../calls.ts";

export const savedSnippetRoutes = [
  bind(getSavedSnippets, (call) => ok({ saved_snippets: listSavedSnippets(call.realm.view, requireCaller(call)) })),

  bind(createSavedSnippet, (call) => {
    const content = call.params.content.trim();
    const title = call.params.title.trim();
    const refused = checkTexts({ content, title });
    if (refused !== null) return refused;
    const asked = command(self(call), "saved-snippets.add", { title, content }, requireCaller(call).id);
    return call.realm.dispatcher.ask(asked, call.idempotencyKey);
  }),

  bind(editSavedSnippet, (call) => {
    const content = call.params.content?.trim() ?? null;
    const title = call.params.title?.trim() ?? null;
    const refused = checkTexts({ content, title });
    if (refused !== null) return refused;
    const params = { id: call.params.saved_snippet_id, title, content };
    const asked = command(self(call), "saved-snippets.update", params, requireCaller(call).id);
    return call.realm.dispatcher.ask(asked, call.idempotencyKey);
  }),

  bind(deleteSavedSnippet, (call) => {
    const params = { id: call.params.saved_snippet_id };
    const asked = command(self(call), "saved-snippets.remove", params, requireCaller(call).id);
    return call.realm.dispatcher.ask(asked, call.idempotencyKey);
  }),
];

function self(call: Call) {
  return { actor: "user", id: requireCaller(call).id } as const;
}

const bounds = {
  content: limits.message_code_points_max,
  title: limits.saved_snippet_title_code_points_max,
} as const;

/** Both empty fields give the same message (D12); null if the field was not sent. */
function checkTexts(texts: Readonly<Record<keyof typeof bounds, string | null>>): Refusal | null {
  for (const name of ["content", "title"] as const) {
    const text = texts[name];
    if (text === "") return refuse.badRequest("Title cannot be empty.");
    if (text !== null && codePoints(text) > bounds[name]) {
      return refuse.badRequest(`${name} is too long (limit: ${bounds[name]} characters)`);
    }
  }
  return (
    (texts.title === null ? null : checkCharacters("title", texts.title)) ??
    (texts.content === null ? null : checkLines("content", texts.content))
  );
}
