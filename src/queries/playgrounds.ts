/** Code playground objects (spec 2.10; OpenAPI, RealmPlayground). */
import { playgroundsOf } from "../../domain/playgrounds.ts";
import type { View } from "../../domain/view.ts";
import type { Section } from "./state-section.ts";

export function playgroundBodies(view: View) {
  return playgroundsOf(view).map(({ id, name, language, urlTemplate }) => ({
    id,
    name,
    pygments_language: language,
    url_template: urlTemplate,
  }));
}

export const playgroundsState: Section<"realm_playgrounds"> = (view) => ({ realm_playgrounds: playgroundBodies(view) });
