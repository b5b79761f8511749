/** Icon and logos of the organization (public API: /realm/icon, /realm/logo): the file is on disk already, here it is claimed. */
import { refuse } from "../../schemas/errors.ts";
import { realmPictureFile } from "../../schemas/files.ts";
import { isAdministrator } from "../../src/domain/permissions.ts";
import { realmPictureFields } from "../../src/domain/realm-pictures.ts";
import type { View } from "../../src/domain/view.ts";
import type { Command } from "../commands.ts";
import { callerOf, done, type Outcome } from "../decide.ts";
import { effects } from "../effects.ts";

/** Removing what is not there changes nothing and is told to nobody. */
export function setRealmPicture(_context: unknown, command: Command<"realm.picture.set">, view: View): Outcome {
  const caller = callerOf(command, view);
  if (caller === null || !isAdministrator(caller)) return refuse.administratorRequired();
  const { name, file } = command.params;
  const before = view.row("realmPictures", name);
  const after = file === null ? undefined : { file };
  const data = realmPictureFields(view, name, after);
  const answer = name === "icon" ? { icon_url: data["icon_url"] } : {};
  if (before === undefined && after === undefined) return done(answer, []);
  return done(answer, [
    after === undefined ? effects.remove("realmPictures", name) : effects.put("realmPictures", name, after),
    effects.emit("realm", { op: "update_dict", property: name, data }, { to: "realm" }),
    ...(before === undefined ? [] : [effects.discard(realmPictureFile(before))]),
  ]);
}
