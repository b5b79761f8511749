/**
 * Commands that the runtime and other actors send to the realm actor: the next slice of work that is too long for one
 * command, and reports that are written in batches.
 */

import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import type { PresenceRecord } from "../../schemas/presence.ts";
import type { Seen } from "../../schemas/read-state.ts";
import { type Command, command, done, effects, forServer, type Outcome, type Params } from "../protocol/decision.ts";
import { messageInConversation, rememberMissed } from "../rules/missed-messages.ts";
import { transferReadState } from "../rules/moved-read-state.ts";
import { endSlice, moveSlice } from "../rules/user-topic-moves.ts";

/**
 * Usage statistics (spec 4.7, new_user_input; D32): per user and day, the number of presence reports with new user
 * input. Old days are deleted.
 */
export function addActivity({ counts }: Params<"inputs.persist">, view: View): Outcome {
  const newest = Math.max(...counts.map(({ day }) => day));
  const outdated = { start: [0], end: [newest - limits.usage_days_kept + 1], limit: 2 * limits.batch_rows_max };
  return done({}, [
    ...view.keys("userInputs", outdated).map((key) => effects.remove("userInputs", key)),
    ...counts.map(({ day, userId, reports }) => {
      const before = view.row("userInputs", [day, userId])?.reports ?? 0;
      return effects.put("userInputs", [day, userId], { reports: before + reports });
    }),
  ]);
}

/** The next slice. The message may have been deleted or moved by now. */
export function collectMissed({ messageId, afterUserId }: Params<"missed-messages.collect">, view: View): Outcome {
  const placed = messageInConversation(view, messageId);
  return done({}, placed === null ? [] : rememberMissed(placed, view, afterUserId));
}

export function continueTopicMove(params: Params<"user-topics.move">, view: View): Outcome {
  return done({}, moveSlice(view, params));
}

export function continueTopicEnd(params: Params<"user-topics.end">, view: View): Outcome {
  return done({}, endSlice(view, params));
}

/** Completes the command of an older server, which moved the messages first. */
export function transferLate(
  params: Params<"read-state.carry">,
  view: View,
  request: Command<"read-state.carry">,
): Outcome {
  // Messages that have been moved again or deleted are skipped.
  const isThere = ({ id }: Seen) => view.row("conversationMessages", [params.to.id, id]) !== undefined;
  const { rows, onward } = transferReadState(view, { ...params, messages: params.messages.filter(isThere) });
  if (onward === null) return done({}, rows);
  return done({}, [
    ...rows,
    effects.continueNextTurn(command(request.to, request.type, { ...params, afterUserId: onward }, null)),
  ]);
}

/** Writes presence to disk in batches (E4): the rows that changed since the last batch. */
export function persistPresence(params: Params<"presence.persist">): Outcome {
  const rows = params.rows as readonly PresenceRecord[];
  return done(
    {},
    rows.map((row) => effects.put("presence", row.userId, row)),
  );
}

export const continuationsDecisions = {
  "read-state.carry": forServer(transferLate),
  "user-topics.move": forServer(continueTopicMove),
  "user-topics.end": forServer(continueTopicEnd),
  "missed-messages.collect": forServer(collectMissed),
  "presence.persist": forServer(persistPresence),
  "inputs.persist": forServer(addActivity),
} as const;
