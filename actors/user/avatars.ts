/** One's own picture (spec 2.6, 2.9): the file is on disk already, here it becomes the person's; the one before is given up. */

import { refuse } from "../../schemas/errors.ts";
import { avatarFiles } from "../../schemas/files.ts";
import { refuseAvatarChange } from "../../src/domain/own-account.ts";
import { avatarUrl } from "../../src/domain/people.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";
import { avatarEvent } from "../people-events.ts";
import { botUpdates } from "../realm/bot-events.ts";

/** POST and DELETE /users/me/avatar. Removing what is not there changes nothing and is told to nobody. */
export function setAvatar(_context: unknown, command: Command<"user.avatar.set">, view: View): Outcome {
  const user = callerOf(command, view);
  if (user === null) return refuse.userDeactivated();
  const refused = refuseAvatarChange(view, user);
  if (refused !== null) return refused;
  const { file } = command.params;
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
