/** Whom a person has muted, at POST /register (OpenAPI, register). */
import { mutedUsersOf } from "../domain/muted-users.ts";
import type { Section } from "./state-section.ts";

export const mutedUsersState: Section = (view, user) => ({ muted_users: mutedUsersOf(view, user.id) });
