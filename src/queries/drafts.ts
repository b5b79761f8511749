/** Reads a user's drafts (public API: get-drafts, register); none if the user does not keep drafts on the server. */

import { draftBody, draftsOf, keepsDrafts } from "../../domain/drafts.ts";
import type { View } from "../../domain/view.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Section } from "./state-section.ts";

/** Most recently edited first. */
export function listDrafts(view: View, user: UserRecord) {
  return keepsDrafts(user) ? draftsOf(view, user.id).map(draftBody) : [];
}

export const draftsState: Section<"drafts"> = (view, user) => ({ drafts: listDrafts(view, user) });
