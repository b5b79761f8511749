/**
 * Reports linkifiers whose pattern the engine rejects: an older version accepted them, and now they match nothing.
 * Logged once when the realm opens, so that an operator learns why links are missing.
 */
import type { LinkifierRecord } from "../schemas/linkifiers.ts";
import { linkifierProblem } from "./domain/markdown/linkifiers.ts";

export function reportLinkifiers(linkifiers: readonly LinkifierRecord[], warn: (line: string) => void): void {
  for (const linkifier of linkifiers) {
    if (linkifierProblem(linkifier) !== "pattern") continue;
    const { id, pattern } = linkifier;
    warn(
      `Linkifier ${id} matches nothing: its pattern ${JSON.stringify(pattern)} is not supported (RE2 syntax, bounded size). An administrator can change or remove it.`,
    );
  }
}
