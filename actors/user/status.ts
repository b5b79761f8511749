/**
 * A user's status (spec 2.7, 4.11, 4.12; behaviour 2.11, 2.12): only the passed parts change. The user actor decides,
 * whether the user or an administrator makes the request.
 */

import { chooseEmoji } from "../../domain/emoji-choice.ts";
import { canAccessUser } from "../../domain/people.ts";
import { isAdministrator } from "../../domain/permissions.ts";
import { checkLine, codePoints } from "../../domain/text.ts";
import type { View } from "../../domain/view.ts";
import { isRefusal, type Refusal, refuse } from "../../schemas/errors.ts";
import { type ReactionType, reactionTypes } from "../../schemas/event-values.ts";
import type { UserId } from "../../schemas/ids.ts";
import { limits } from "../../schemas/limits.ts";
import type { StatusChange, StatusRecord } from "../../schemas/status.ts";
import type { UserRecord } from "../../schemas/users.ts";
import {
  type Address,
  type Command,
  done,
  type Effect,
  effects,
  forUser,
  type Outcome,
  type Params,
} from "../protocol/decision.ts";
import { personalChanges } from "./settings.ts";

export function updateStatus(
  caller: UserRecord,
  params: Params<"status.update">,
  view: View,
  { to }: Command<"status.update">,
): Outcome {
  const user = params.isOwn ? caller : updatableUser(view, caller, to);
  if (isRefusal(user)) return user;
  const { away } = params;
  const parts = readParts(view, params);
  if (isRefusal(parts)) return parts;
  // Spec 4.12: the inverse of the setting; the user's own clients receive it like any other setting.
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

/** A deactivated user can make no request, so this one is an administrator's. */
export function refuseStatus(
  caller: UserRecord,
  _params: unknown,
  view: View,
  { to }: Command<"status.update">,
): Outcome {
  const found = targetUser(view, caller, to);
  return isRefusal(found) ? found : refuse.badRequest("User is deactivated");
}

/** Only administrators change the status of others. Whether the user exists is checked first (behaviour 2.11). */
function updatableUser(view: View, caller: UserRecord, to: Address): UserRecord | Refusal {
  const found = targetUser(view, caller, to);
  return isRefusal(found) || isAdministrator(caller) ? found : refuse.insufficientPermission();
}

function targetUser(view: View, caller: UserRecord, to: Address): UserRecord | Refusal {
  const user = to.actor === "user" ? view.users.get(to.id) : undefined;
  if (user === undefined || user.botType !== null || !canAccessUser(view, caller, user)) return refuse.noSuchUser();
  return user;
}

interface StatusParts {
  readonly text: string | null;
  readonly emoji: { readonly name: string; readonly code: string; readonly reactionType: ReactionType } | null;
}

const noEmoji = { name: "", code: "", reactionType: reactionTypes.unicode } as const;

/** The parts that change; null keeps a part. They are checked in the public server's order. */
function readParts(view: View, change: StatusChange): StatusParts | Refusal {
  const { away, emojiName, emojiCode, reactionType } = change;
  const text = change.text?.trim() ?? null;
  if (text !== null && codePoints(text) > limits.status_text_code_points_max) {
    return refuse.badRequest(`status_text is too long (limit: ${limits.status_text_code_points_max} characters)`);
  }
  const badText = text === null ? null : checkLine("status_text", text);
  if (badText !== null) return badText;
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

function wireParts({ text, emoji }: StatusParts) {
  return {
    ...(text === null ? {} : { status_text: text }),
    ...(emoji === null ? {} : { emoji_name: emoji.name, emoji_code: emoji.code, reaction_type: emoji.reactionType }),
  };
}

/** A status with nothing set has no row. */
function storeStatus(view: View, userId: UserId, { text, emoji }: StatusParts): Effect {
  const before = view.row("statuses", userId);
  const next = emoji ?? emojiOf(before) ?? noEmoji;
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

function emojiOf(row: StatusRecord | undefined): StatusParts["emoji"] {
  if (row === undefined || row.emojiName === "" || row.reactionType === "") return null;
  return { name: row.emojiName, code: row.emojiCode, reactionType: row.reactionType };
}

export const statusDecisions = {
  "status.update": forUser(updateStatus),
} as const;
