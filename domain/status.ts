/** A user's status as clients see it (spec 2.7; OpenAPI get-user-status, register and user_status events). */

import type { ReactionType } from "../schemas/event-values.ts";
import type { StatusRecord } from "../schemas/status.ts";
import { userSetting } from "../schemas/user-settings.ts";
import type { UserRecord } from "../schemas/users.ts";
import { type ExtraType, shownType } from "./emoji/extra-type.ts";

export interface StatusBody {
  readonly away?: true;
  readonly status_text?: string;
  readonly emoji_name?: string;
  readonly emoji_code?: string;
  readonly reaction_type?: ReactionType | ExtraType;
}

/**
 * Unset fields are left out.
 * @param extraType the reader's client's name for the type of the extra emoji (D22)
 */
export function statusBody(user: UserRecord, row: StatusRecord | undefined, extraType: ExtraType): StatusBody {
  const { statusText = "", emojiName = "", emojiCode = "", reactionType = "" } = row ?? {};
  return {
    ...(userSetting(user, "presence_enabled") ? {} : { away: true }),
    ...(statusText === "" ? {} : { status_text: statusText }),
    ...(emojiName === "" || reactionType === ""
      ? {}
      : { emoji_name: emojiName, emoji_code: emojiCode, reaction_type: shownType(reactionType, extraType) }),
  };
}
