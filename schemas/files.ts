/**
 * Names of the files that rows claim (architecture, Files). A file's name is random, so it changes with the content, and says
 * nothing of whose it is. `avatars/<name>`, `emoji/<name>` and `uploads/<name>` are names in the realm's folder; clients get addresses.
 */
import type { AttachmentRecord } from "./records/attachments.ts";
import type { RealmEmojiRecord, UserRecord } from "./records/people.ts";
import type { RealmPictureRecord } from "./records/programs.ts";

/** What a name in a realm's folder looks like: one folder, one file, nothing that could lead out of it. */
export const fileNameShape = /^[a-z]{1,20}\/[0-9a-f]{32}(?:-[a-z]{1,20})?\.[a-z]{1,10}$/;

/** Where pictures are served, outside the API. */
export const picturesPath = "/user_avatars/";

/** The larger form of a picture of a person, by the name of the smaller. */
export function mediumName(name: string): string {
  return name.replace(/\.png$/, "-medium.png");
}

/** Files of a row's avatar: both sizes. @param avatarFile as in the row, with the realm's id in front */
export function avatarFiles(avatarFile: string | null): readonly string[] {
  if (avatarFile === null) return [];
  const name = `avatars/${avatarFile.slice(avatarFile.indexOf("/") + 1)}`;
  return [name, mediumName(name)];
}

/** Files of a custom emoji: the picture, and its first frame when it is animated. */
export function emojiFiles(emoji: Pick<RealmEmojiRecord, "file" | "stillFile">): readonly string[] {
  const name = `emoji/${emoji.file}`;
  return emoji.stillFile === null ? [name] : [name, `emoji/${emoji.stillFile}`];
}

/** The file of a picture of the organization. */
export function realmPictureFile({ file }: Pick<RealmPictureRecord, "file">): string {
  return `realm/${file}`;
}

/** The file of an attachment. No ending says what is in it. */
export function uploadName(file: string): string {
  return `${uploadFolder}${file}${uploadEnding}`;
}

/** The other way round; null: not a name of an attachment's file. */
export function uploadedFile(name: string): string | null {
  const isUpload = name.startsWith(uploadFolder) && name.endsWith(uploadEnding);
  return isUpload ? name.slice(uploadFolder.length, -uploadEnding.length) : null;
}

const uploadFolder = "uploads/";
const uploadEnding = ".bin";

/** Where files are served, outside the API. */
export const uploadsPath = "/user_uploads/";

/** Where thumbnails of uploaded pictures are served: this, the path of the picture, a slash and the name of a format. */
export const thumbnailsPath = `${uploadsPath}thumbnail/`;

/** `<realm>/<two digits>/<the others>/<name>`: what follows `uploadsPath` in an attachment's address. */
export function pathIdOf(realmId: number, { file, pathName }: Pick<AttachmentRecord, "file" | "pathName">): string {
  return `${realmId}/${file.slice(0, 2)}/${file.slice(2)}/${pathName}`;
}

/** Every picture that rows claim. */
export function claimedFiles(
  users: Iterable<UserRecord>,
  emoji: Iterable<RealmEmojiRecord>,
  realmPictures: Iterable<RealmPictureRecord>,
): Set<string> {
  const claimed = new Set<string>();
  for (const picture of realmPictures) claimed.add(realmPictureFile(picture));
  for (const user of users) for (const name of avatarFiles(user.avatarFile)) claimed.add(name);
  for (const own of emoji) for (const name of emojiFiles(own)) claimed.add(name);
  return claimed;
}
