/**
 * Names of the files referenced by rows (architecture, Files). File names are random: they change with the content and
 * do not reveal the owner. `avatars/<name>`, `emoji/<name>`, `realm/<name>` and `uploads/<name>` are names in the
 * realm's folder. Clients receive URLs.
 */
import type { AttachmentRecord } from "./attachments.ts";
import type { RealmEmojiRecord } from "./emoji.ts";
import type { RealmPictureRecord } from "./realm-pictures.ts";
import type { UserRecord } from "./users.ts";

/** Valid names in a realm's folder: one folder and one file, without any character that could lead to another path. */
export const fileNameShape = /^[a-z]{1,20}\/[0-9a-f]{32}(?:-[a-z]{1,20})?\.[a-z]{1,10}$/;

/** URL path of images, outside the API. */
export const picturesPath = "/user_avatars/";

/** Name of the larger version of an avatar, from the name of the smaller one. */
export function mediumName(name: string): string {
  return name.replace(/\.png$/, "-medium.png");
}

/**
 * Files of an avatar, in both sizes.
 * @param avatarFile as in the row, prefixed with the realm id
 */
export function avatarFiles(avatarFile: string | null): readonly string[] {
  if (avatarFile === null) return [];
  const name = `avatars/${avatarFile.slice(avatarFile.indexOf("/") + 1)}`;
  return [name, mediumName(name)];
}

/** Files of a custom emoji: the image, and its first frame if it is animated. */
export function emojiFiles(emoji: Pick<RealmEmojiRecord, "file" | "stillFile">): readonly string[] {
  const name = `emoji/${emoji.file}`;
  return emoji.stillFile === null ? [name] : [name, `emoji/${emoji.stillFile}`];
}

/** The file of an organization image. */
export function realmPictureFile({ file }: Pick<RealmPictureRecord, "file">): string {
  return `realm/${file}`;
}

/** The file of an attachment. Its extension does not reveal the contents. */
export function uploadName(file: string): string {
  return `${uploadFolder}${file}${uploadEnding}`;
}

/** The inverse of `uploadName`; null: not the name of an attachment's file. */
export function uploadedFile(name: string): string | null {
  const isUpload = name.startsWith(uploadFolder) && name.endsWith(uploadEnding);
  return isUpload ? name.slice(uploadFolder.length, -uploadEnding.length) : null;
}

const uploadFolder = "uploads/";
const uploadEnding = ".bin";

/** URL path of uploaded files, outside the API. */
export const uploadsPath = "/user_uploads/";

/** URL path of thumbnails, followed by the image's path, a slash and the name of a format. */
export const thumbnailsPath = `${uploadsPath}thumbnail/`;

/** `<realm>/<two digits>/<other digits>/<name>`: the part of an attachment's URL after `uploadsPath`. */
export function pathIdOf(realmId: number, { file, pathName }: Pick<AttachmentRecord, "file" | "pathName">): string {
  return `${realmId}/${file.slice(0, 2)}/${file.slice(2)}/${pathName}`;
}

/** All images referenced by rows. */
export function referencedFiles(
  users: Iterable<UserRecord>,
  emoji: Iterable<RealmEmojiRecord>,
  realmPictures: Iterable<RealmPictureRecord>,
): Set<string> {
  const referenced = new Set<string>();
  for (const picture of realmPictures) referenced.add(realmPictureFile(picture));
  for (const user of users) for (const name of avatarFiles(user.avatarFile)) referenced.add(name);
  for (const own of emoji) for (const name of emojiFiles(own)) referenced.add(name);
  return referenced;
}
