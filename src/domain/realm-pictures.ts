/** Where clients find the pictures of an organization, and what they are told of them (OpenAPI, /register and `realm` events). */
import { picturesPath } from "../../schemas/files.ts";
import type { RealmPictureName, RealmPictureRecord } from "../../schemas/records.ts";
import type { View } from "./view.ts";

/** Made by the server, the same for as long as the organization lives. */
export const defaultRealmPicture = "/avatar/realm-icon";

/** What clients call a picture that was not uploaded. */
const defaultSources: Readonly<Record<RealmPictureName, string>> = { icon: "G", logo: "D", night_logo: "D" };

/** Below the address under which the client knows the server, which differs from client to client. */
export function realmPictureUrl(view: View, name: RealmPictureName): string {
  return urlOf(view, view.row("realmPictures", name));
}

function urlOf(view: View, row: RealmPictureRecord | undefined): string {
  return row === undefined ? defaultRealmPicture : `${picturesPath}${view.realm.id}/realm/${row.file}`;
}

/** As a `realm` event has it; in the state the names begin with `realm_`. */
export function realmPictureFields(
  view: View,
  name: RealmPictureName,
  row: RealmPictureRecord | undefined,
): Readonly<Record<string, string>> {
  return { [`${name}_url`]: urlOf(view, row), [`${name}_source`]: row === undefined ? defaultSources[name] : "U" };
}
