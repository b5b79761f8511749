/** A person's drafts as they are read (public API: get-drafts, register): none for who does not want them kept. */

import type { UserRecord } from "../../schemas/records.ts";
import { draftBody, draftsOf, keepsDrafts } from "../domain/drafts.ts";
import type { View } from "../domain/view.ts";
import type { Section } from "./state-section.ts";

/** The last edited first. */
export function listDrafts(view: View, user: UserRecord) {
  return keepsDrafts(user) ? draftsOf(view, user.id).map(draftBody) : [];
}

export const draftsState: Section = (view, user) => ({ drafts: listDrafts(view, user) });
