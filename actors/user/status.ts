/**
 * A person's status (spec 2.7, 4.11, 4.12; behaviour 2.11, 2.12): only the parts that are passed change. The user actor
 * decides for its own person, whether that one asks or an administrator.
 */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import type { StatusRecord, UserRecord } from "../../schemas/records.ts";
import { reactionTypes } from "../../schemas/status.ts";
import { chooseEmoji } from "../../src/domain/emoji/emoji-choice.ts";
import { canAccessUser } from "../../src/domain/people.ts";
import { isAdministrator } from "../../src/domain/permissions.ts";
import { codePoints } from "../../src/domain/text.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command, StatusChange } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { type Effect, effects } from "../effects.ts";
import { personalChanges } from "./settings.ts";

export function updateStatus(_context: unknown, command: Command<"status.update">, view: View): Outcome {
  const found = personMeant(command, view);
  if ("kind" in found) return found;
  const { user } = found;
  const { away } = command.params;
  const parts = readParts(view, command.params);
  if ("kind" in parts) return parts;
  // Spec 4.12: the inverse of the setting, of which the person's own clients are told as of any other.
  const settings = away === null ? {} : { presence_enabled: !away };
  return done({}, [
    ...personalChanges(view, user, { settings, fullName: null }),
    storeStatus(view, user.id, parts),
    effects.emit(
      "user_status",
      { user_id: user.id, ...(away === null ? {} : { away }), ...wireParts(parts) },
      { to: "realm" },
    ),
  ]);
}

/** Oneself, or for administrators anybody: the person is looked for before the right is (behaviour 2.11). */
function personMeant(command: Command<"status.update">, view: View): { readonly user: UserRecord } | Refusal {
  const caller = callerOf(command, view);
  const user = view.users.get((command.to as { readonly id: number }).id);
  if (command.params.isOwn && caller !== null) return { user: caller };
  if (caller === null || user === undefined || user.botType !== null || !canAccessUser(view, caller, user)) {
    return refuse.noSuchUser();
  }
  if (!user.isActive) return refuse.badRequest("User is deactivated");
  return isAdministrator(caller) ? { user } : refuse.insufficientPermission();
}

interface Parts {
  readonly text: string | null;
  readonly emoji: { readonly name: string; readonly code: string; readonly reactionType: string } | null;
}

const noEmoji = { name: "", code: "", reactionType: reactionTypes.unicode } as const;

/** The parts that change, null for those that stay; in the order in which the public API finds fault. */
function readParts(view: View, change: StatusChange): Parts | Refusal {
  const { away, emojiName, emojiCode, reactionType } = change;
  const text = change.text?.trim() ?? null;
  if (text !== null && codePoints(text) > limits.status_text_code_points_max) {
    return refuse.badRequest(`status_text is too long (limit: ${limits.status_text_code_points_max} characters)`);
  }
  if (away === null && text === null && emojiName === null) {
    return refuse.badRequest("Client did not pass any new values.");
  }
  if (emojiName === "") return { text, emoji: noEmoji };
  if (emojiName !== null) {
    const emoji = chooseEmoji(view, { name: emojiName, code: emojiCode, reactionType });
    return emoji.kind === "refused" ? emoji : { text, emoji };
  }
  if (emojiCode === null && reactionType === null) return { text, emoji: null };
  return refuse.badRequest("Client must pass emoji_name if they pass either emoji_code or reaction_type.");
}

function wireParts({ text, emoji }: Parts): Record<string, string> {
  return {
    ...(text === null ? {} : { status_text: text }),
    ...(emoji === null ? {} : { emoji_name: emoji.name, emoji_code: emoji.code, reaction_type: emoji.reactionType }),
  };
}

/** A row with nothing set is no row. */
function storeStatus(view: View, userId: number, { text, emoji }: Parts): Effect {
  const before = view.row("statuses", userId);
  const kept = before === undefined || before.emojiName === "" ? noEmoji : emojiOf(before);
  const next = emoji ?? kept;
  const statusText = text ?? before?.statusText ?? "";
  if (statusText === "" && next.name === "") return effects.remove("statuses", userId);
  return effects.put("statuses", userId, {
    userId,
    statusText,
    emojiName: next.name,
    emojiCode: next.code,
    reactionType: next.name === "" ? "" : next.reactionType,
  });
}

function emojiOf({ emojiName: name, emojiCode: code, reactionType }: StatusRecord) {
  return { name, code, reactionType };
}
