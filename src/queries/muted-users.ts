/** The users that a user has muted, for POST /register (OpenAPI, register). */
import { mutedUsersOf } from "../../domain/muted-users.ts";
import type { Section } from "./state-section.ts";

export const mutedUsersState: Section<"muted_users"> = (view, user) => ({ muted_users: mutedUsersOf(view, user.id) });
