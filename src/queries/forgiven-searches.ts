/** Typos are forgiven where a search finds nothing else (behaviour 5.3): by the same rule for pages and single messages. */
import type { Narrowed } from "../../domain/narrow/narrow.ts";
import type { View } from "../../domain/view.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { MessageWalk, type UnindexedAllowance } from "./message-fetch.ts";
import type { Waiting } from "./passes.ts";

interface Search {
  readonly view: View;
  readonly reader: UserRecord;
  readonly isAbandoned: () => boolean;
  readonly unindexed: UnindexedAllowance;
}

/** @returns null if the narrow has a match for its reader, or no word that could have a typo */
export function* forgivenIfEmpty(
  narrowed: Narrowed,
  { view, reader, isAbandoned, unindexed }: Search,
): Waiting<Narrowed | null> {
  if (narrowed.forgiving === null) return null;
  const walk = new MessageWalk(view, reader, narrowed, isAbandoned, { unindexed });
  const { messages } = yield* walk.collect(Number.MAX_SAFE_INTEGER, -1, 1);
  return messages.length > 0 ? null : narrowed.forgiving();
}
