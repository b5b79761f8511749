/**
 * Serves pictures outside the API, to anyone who has their URL (as on Zulip): uploads under /user_avatars/,
 * /avatar/<who> as a redirect to a user's avatar, and the organization's pictures. Only generated names are looked up,
 * and only in the folder of the host's realm.
 */

import { identicon } from "../../../domain/identicon.ts";
import { ownProperty } from "../../../domain/own-property.ts";
import { refuse } from "../../../schemas/errors.ts";
import { picturesPath } from "../../../schemas/files.ts";
import { avatarAddress } from "../../queries/avatars.ts";
import { errorPage, filePage, type PageRequest, type PageRoute, redirectPage } from "../http/pages.ts";

const contentTypes: Readonly<Record<string, string>> = { png: "image/png", gif: "image/gif", webp: "image/webp" };

/** Folders of the realm's files, by the prefix of the path. */
const folders: Readonly<Record<string, string>> = { "emoji/images/": "emoji", "realm/": "realm", "": "avatars" };

/** `<realm>/<file>`, `<realm>/emoji/images/<file>`, `<realm>/realm/<file>`. */
const shape = /^(\d{1,15})\/(emoji\/images\/|realm\/|)([0-9a-f]{32}(?:-medium|-still)?\.([a-z]{3,4}))$/;

async function servePicture({ realm, rest }: PageRequest) {
  const [, realmId, place = "", file, extension = ""] = shape.exec(rest) ?? [];
  const contentType = ownProperty(contentTypes, extension);
  if (contentType === undefined || Number(realmId) !== realm.view.realm.id) return errorPage(refuse.notFound());
  const bytes = await realm.files.read(`${folders[place]}/${file}`);
  return bytes === null ? errorPage(refuse.notFound()) : filePage(contentType, bytes);
}

/** `<user id or email>`, followed by `/medium` for the larger one. */
function redirectToAvatar({ realm, rest, viewer }: PageRequest) {
  if (rest === realmIcon) return filePage("image/png", identicon(realm.view.realm.createdAt));
  const isMedium = rest.endsWith("/medium");
  const who = isMedium ? rest.slice(0, -"/medium".length) : rest;
  const address = avatarAddress(realm.view, viewer(), who, isMedium);
  return address === null ? errorPage(refuse.notFound()) : redirectPage(address);
}

const realmIcon = "realm-icon";

export const picturePages: readonly PageRoute[] = [
  { prefix: picturesPath, serve: servePicture },
  { prefix: "/avatar/", serve: redirectToAvatar },
];
