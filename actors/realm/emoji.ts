/** Custom emoji (public API: upload-custom-emoji, deactivate-custom-emoji): active names are unique in an organization. */

import { objectionToName, objectionToRemoval } from "../../domain/custom-emoji.ts";
import type { View } from "../../domain/view.ts";
import { refuse } from "../../schemas/errors.ts";
import type { UserRecord } from "../../schemas/users.ts";
import { done, effects, forUser, type Outcome, type Params } from "../protocol/decision.ts";

/** Its content, the list of all custom emoji, is built on delivery. */
const changed = effects.emit("realm_emoji", { op: "update" }, { to: "realm" });

/** POST /realm/emoji/{emoji_name}; the files are already on disk. */
export function addEmoji(author: UserRecord, { name, file, stillFile }: Params<"emoji.add">, view: View): Outcome {
  const objection = objectionToName(view, author, name);
  if (objection !== null) return objection;
  const id = view.counter("emoji") + 1;
  return done({}, [
    effects.setCounter("emoji", id),
    effects.put("realmEmoji", id, {
      id,
      name,
      authorId: author.id,
      isActive: true,
      file,
      stillFile,
      createdAt: view.now,
    }),
    changed,
  ]);
}

/**
 * DELETE /realm/emoji/{emoji_name}. The row and its files stay, because existing messages, reactions and statuses still
 * show the emoji.
 */
export function deactivateEmoji(caller: UserRecord, { name }: Params<"emoji.deactivate">, view: View): Outcome {
  const emoji = view.realmEmoji.active(name);
  if (emoji === undefined) return refuse.notFound(`Emoji '${name}' does not exist`);
  const objection = objectionToRemoval(caller, emoji);
  if (objection !== null) return objection;
  return done({}, [effects.put("realmEmoji", emoji.id, { ...emoji, isActive: false }), changed]);
}

export const emojiDecisions = {
  "emoji.add": forUser(addEmoji),
  "emoji.deactivate": forUser(deactivateEmoji),
} as const;
