/**
 * Serves pictures outside the API, to anyone who has their URL (as on Zulip): uploads under /user_avatars/,
 * /avatar/<who> as a redirect to a user's avatar, and the organization's pictures. Only generated names are looked up,
 * and only in the folder of the host's realm.
 */

import { hasThumbnail } from "../../../domain/attachments.ts";
import { identicon } from "../../../domain/identicon.ts";
import { ownProperty } from "../../../domain/own-property.ts";
import {
  apiEmail,
  avatarForSpectator,
  canAccessUser,
  computedAvatar,
  deliveryEmail,
  personByAddress,
  uploadedAvatar,
} from "../../../domain/people.ts";
import { realmSetting } from "../../../domain/realm-settings.ts";
import { isEmailAddress } from "../../../domain/text.ts";
import type { View } from "../../../domain/view.ts";
import { refuse } from "../../../schemas/errors.ts";
import { picturesPath, thumbnailsPath, uploadName } from "../../../schemas/files.ts";
import { fold } from "../../../schemas/fold.ts";
import { limits } from "../../../schemas/limits.ts";
import { animatedFormat, stillFormat } from "../../../schemas/thumbnails.ts";
import type { UserRecord } from "../../../schemas/users.ts";
import type { Thumbnails } from "../../operations/media/thumbnails.ts";
import { errorPage, filePage, isKnownTag, type PageRequest, type PageRoute, redirectPage } from "../http/pages.ts";
import type { HttpReply } from "../http/reply.ts";
import { fileGuards, visibleAt } from "./files.ts";

const firstVersion = 1;

/**
 * If the user does not exist or the viewer may not see them, returns the avatar that any such address would have.
 * @param viewer null: not logged in
 * @returns null if `who` is neither an id nor an address
 */
function avatarAddress(view: View, viewer: UserRecord | null, who: string, isMedium: boolean): string | null {
  const isId = /^\d{1,15}$/.test(who);
  if (!isId && !isEmailAddress(who, limits.email_code_points_max)) return null;
  const user = isId ? view.users.get(Number(who)) : viewer === null ? undefined : personByAddress(view, viewer, who);
  if (
    viewer !== null &&
    user !== undefined &&
    canAccessUser(view, viewer, user) &&
    (isId || knows(viewer, user, who))
  ) {
    return uploadedAvatar(user, isMedium) ?? computedAvatar(apiEmail(user), user.avatarVersion, isMedium);
  }
  // By id, spectators get what GET /users would show. By address, they get nothing that reveals whether the account
  // exists (S1).
  if (isId && user !== undefined && viewer === null && realmSetting(view, "enable_spectator_access")) {
    return avatarForSpectator(user, isMedium);
  }
  return computedAvatar(isId ? `user${who}@` : who, firstVersion, isMedium);
}

/** Whether the viewer may know the user under this address; a hidden address is treated as unknown (S1). */
function knows(viewer: UserRecord, user: UserRecord, address: string): boolean {
  const own = [apiEmail(user), deliveryEmail(user, viewer)];
  return own.some((known) => known !== null && fold(known) === fold(address));
}

/** `<path of the picture>/<name of a format>`. */
const thumbnailShape = /^(.+)\/\d{1,5}x\d{1,5}(-anim)?\.[a-z]{3,4}$/s;

/**
 * Serves thumbnails of uploaded pictures outside the API, to users who may see the picture itself at that moment. A
 * request for a format that the server does not make gets the nearest one (public API, message formatting).
 */
export function thumbnailPages(thumbnails: Thumbnails): readonly PageRoute[] {
  async function serve(request: PageRequest): Promise<HttpReply> {
    const [, path = "", suffix] = thumbnailShape.exec(request.rest) ?? [];
    const attachment = await visibleAt(request, path);
    if (attachment === undefined || !hasThumbnail(attachment)) return errorPage(refuse.notFound("File not found"));
    const { file, image } = attachment;
    const format = suffix !== undefined && image?.isAnimated === true ? animatedFormat : stillFormat;
    const etag = `"${file}-${format.name}"`;
    const headers: HttpReply["headers"] = [...fileGuards, ["ETag", etag]];
    if (isKnownTag(request.ifNoneMatch, etag)) return { status: 304, body: "", headers };
    const read = () => request.realm.files.read(uploadName(file));
    const made = await thumbnails.get(file, format.animated, read);
    return Buffer.isBuffer(made)
      ? { status: 200, body: made, contentType: `image/${format.format}`, headers }
      : errorPage(made);
  }

  return [{ prefix: thumbnailsPath, serve }];
}

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
