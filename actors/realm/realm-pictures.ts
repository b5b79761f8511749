/**
 * The organization's icon and logos (public API: /realm/icon, /realm/logo). The file is already on disk; this command
 * claims it.
 */

import { type ShownPicture, shownPicture } from "../../domain/realm-pictures.ts";
import type { View } from "../../domain/view.ts";

import type { StoredBody } from "../../schemas/events.ts";
import { realmPictureFile } from "../../schemas/files.ts";
import type { RealmPictureName } from "../../schemas/realm-pictures.ts";

import { done, effects, forAdministrator, type Outcome, type Params } from "../protocol/decision.ts";

/** Removing an image that is not set changes nothing and emits no event. */
export function setRealmPicture({ name, file }: Params<"realm.picture.set">, view: View): Outcome {
  const before = view.row("realmPictures", name);
  const after = file === null ? undefined : { file };
  const shown = shownPicture(view, name, after);
  const answer = name === "icon" ? { icon_url: shown.url } : {};
  if (before === undefined && after === undefined) return done(answer, []);
  return done(answer, [
    after === undefined ? effects.remove("realmPictures", name) : effects.put("realmPictures", name, after),
    effects.emit("realm", pictureEventBodies[name](shown), { to: "realm" }),
    ...(before === undefined ? [] : [effects.discard(realmPictureFile(before))]),
  ]);
}

const pictureEventBodies: Readonly<Record<RealmPictureName, (shown: ShownPicture) => StoredBody<"realm">>> = {
  icon: ({ url, source }) => ({
    op: "update_dict",
    property: "icon",
    data: { icon_url: url, icon_source: source },
  }),
  logo: ({ url, source }) => ({
    op: "update_dict",
    property: "logo",
    data: { logo_url: url, logo_source: source },
  }),
  night_logo: ({ url, source }) => ({
    op: "update_dict",
    property: "night_logo",
    data: { night_logo_url: url, night_logo_source: source },
  }),
};

export const realmPicturesDecisions = {
  "realm.picture.set": forAdministrator(setRealmPicture),
} as const;
