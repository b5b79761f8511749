/** Rules for names of user groups (behaviour 3.6). */
import { type Refusal, refuse } from "../schemas/errors.ts";
import { limits } from "../schemas/limits.ts";
import { checkCharacters, codePoints } from "./text.ts";
import type { View } from "./view.ts";

/** Prefixes that are reserved for system groups and mentions. */
const forbiddenBeginnings = ["@", "role:", "user:", "stream:", "channel:"] as const;

export function checkGroupName(name: string): Refusal | null {
  if (name.trim() === "") return refuse.badRequest("User group name can't be empty!");
  if (codePoints(name) > limits.group_name_code_points_max) {
    return refuse.badRequest(`User group name cannot exceed ${limits.group_name_code_points_max} characters.`);
  }
  const beginning = forbiddenBeginnings.find((candidate) => name.startsWith(candidate));
  if (beginning !== undefined) return refuse.badRequest(`User group name cannot start with '${beginning}'.`);
  return checkCharacters("user group name", name);
}

/** Deactivated groups keep their names. */
export function checkGroupNameFree(view: View, name: string): Refusal | null {
  return view.groups.byName(name) === undefined ? null : refuse.badRequest(`User group '${name}' already exists.`);
}
