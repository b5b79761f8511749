/** Reads a person's own lists (schemas/personal-list.ts), for GET and for the sections of POST /register. */

import { entriesOf, entryBody } from "../../domain/personal-lists.ts";
import type { View } from "../../domain/view.ts";
import { personalLists } from "../../schemas/areas.ts";
import type { PersonalList } from "../../schemas/personal-list.ts";
import type { UserRecord } from "../../schemas/users.ts";
import type { Sections } from "./state-section.ts";

/** As the only field of an answer. */
export function readList(view: View, list: PersonalList, user: UserRecord) {
  return { [list.plural]: entriesOf(view, list, user.id).map((row) => entryBody(list, row)) };
}

export const personalListSections: Partial<Sections> = Object.fromEntries(
  personalLists.map((list) => [list.plural, (view: View, user: UserRecord) => readList(view, list, user)]),
);
