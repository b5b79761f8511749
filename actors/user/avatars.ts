/**
 * A user's own avatar (spec 2.6, 2.9). The file is already on disk; this command claims it and discards the previous
 * one.
 */

import { refuseAvatarChange } from "../../domain/own-account.ts";
import { avatarUrl } from "../../domain/people.ts";
import type { View } from "../../domain/view.ts";

import { avatarFiles } from "../../schemas/files.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { done, effects, forUser, type Outcome, type Params } from "../protocol/decision.ts";
import { botUpdates } from "../rules/bot-events.ts";
import { avatarEvent } from "../rules/user-events.ts";

/** POST and DELETE /users/me/avatar. Removing an avatar that is not set changes nothing and emits no event. */
export function setAvatar(user: UserRecord, { file }: Params<"user.avatar.set">, view: View): Outcome {
  const refused = refuseAvatarChange(view, user);
  if (refused !== null) return refused;

  const before = user.avatarFile;
  if (file === null && before === null) return done({ avatar_url: avatarUrl(user, false) }, []);
  const avatarFile = file === null ? null : `${view.realm.id}/${file}`;
  const after = { ...user, avatarFile, avatarVersion: user.avatarVersion + 1 };
  return done({ avatar_url: avatarUrl(after, false) }, [
    effects.put("users", user.id, after),
    avatarEvent(after),
    ...botUpdates(view, after, ["avatar_url"]),
    ...avatarFiles(before).map(effects.discard),
  ]);
}

export const avatarsDecisions = {
  "user.avatar.set": forUser(setAvatar),
} as const;
