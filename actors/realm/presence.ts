/** Presence reaches the disk in batches (E4): the rows that changed since the last one. */
import type { PresenceRecord } from "../../schemas/records.ts";
import type { Command } from "../commands.ts";
import { done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";

export function persistPresence(_context: unknown, command: Command<"presence.persist">): Outcome {
  const rows = command.params.rows as readonly PresenceRecord[];
  return done(
    {},
    rows.map((row) => effects.put("presence", row.userId, row)),
  );
}
