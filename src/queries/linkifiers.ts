/** Linkifier objects (public API: get-linkifiers). */
import type { View } from "../../domain/view.ts";
import type { Section } from "./state-section.ts";

export function linkifierBodies(view: View) {
  return view.linkifiers.map(({ id, pattern, urlTemplate }) => ({ id, pattern, url_template: urlTemplate }));
}

/** Clients that cannot expand URL templates receive none (behaviour 4.3). */
export const linkifiersState: Section<"realm_linkifiers"> = (view, _user, { takesUrlTemplates }) => ({
  realm_linkifiers: takesUrlTemplates ? linkifierBodies(view) : [],
});
