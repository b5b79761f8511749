/** A saved snippet as clients know it (OpenAPI SavedSnippet): in answers, in state and in events alike. */
import type { SavedSnippetRecord } from "../../schemas/records.ts";
import { seconds } from "./presence.ts";

export function savedSnippetBody({ id, title, content, createdAt }: SavedSnippetRecord) {
  return { id, title, content, date_created: seconds(createdAt) };
}
