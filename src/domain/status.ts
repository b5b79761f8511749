/** A person's status as clients know it (spec 2.7; OpenAPI get-user-status, register and user_status events). */
import type { StatusRecord, UserRecord } from "../../schemas/records.ts";
import { userSetting } from "../../schemas/user-settings.ts";
import { type ExtraType, shownType } from "./emoji/extra-type.ts";

export interface StatusBody {
  readonly away?: true;
  readonly status_text?: string;
  readonly emoji_name?: string;
  readonly emoji_code?: string;
  readonly reaction_type?: string;
}

/**
 * What is not set is absent.
 * @param extraType what the reader's client calls the extra emoji's type (D22)
 */
export function statusBody(user: UserRecord, row: StatusRecord | undefined, extraType: ExtraType): StatusBody {
  const { statusText = "", emojiName = "", emojiCode = "", reactionType = "" } = row ?? {};
  return {
    ...(userSetting(user, "presence_enabled") ? {} : { away: true }),
    ...(statusText === "" ? {} : { status_text: statusText }),
    ...(emojiName === ""
      ? {}
      : { emoji_name: emojiName, emoji_code: emojiCode, reaction_type: shownType(reactionType, extraType) }),
  };
}
