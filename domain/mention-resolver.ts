/**
 * Resolves a message's references as its sender sees them: users, groups, channels (Markdown dialect of the public
 * API).
 */

import type { AttachmentRecord } from "../schemas/attachments.ts";
import { pathIdOf, thumbnailsPath, uploadsPath } from "../schemas/files.ts";
import { fold } from "../schemas/fold.ts";
import { type SystemGroupName, systemGroups } from "../schemas/group-settings.ts";
import { limits } from "../schemas/limits.ts";
import { animatedFormat, stillFormat } from "../schemas/thumbnails.ts";
import type { UserRecord } from "../schemas/users.ts";
import { checkVisibility, hasThumbnail, linkedAttachment } from "./attachments.ts";
import { emojiUrl } from "./custom-emoji.ts";
import { canMentionGroup, namedGroup } from "./group-permissions.ts";
import type { MentionedUser, Resolver } from "./markdown/render.ts";
import { canAccessUser } from "./people.ts";
import { canReadChannelMessage, hasMetadataAccess } from "./permissions.ts";
import { realmSetting } from "./realm-settings.ts";
import { emptyTopicName, topicFor } from "./topics.ts";
import type { View } from "./view.ts";

export function mentionResolver(view: View, sender: UserRecord): Resolver {
  return {
    user: (name, id) => findUser(view, sender, name, id),
    group: (name) => findGroup(view, sender, name),
    channel(name) {
      const channel = view.channels.byName(name);
      if (channel === undefined || !hasMetadataAccess(view, sender, channel)) return null;
      return { id: channel.id, name: channel.name };
    },
    topicLatestMessageId(channelId, topic) {
      const channel = view.channels.get(channelId);
      const named = view.row("topicNames", [channelId, fold(topicFor(view, topic))]);
      const latest = named === undefined ? undefined : view.row("conversations", named.id)?.lastMessageId;
      if (channel === undefined || latest === undefined) return null;
      // A topic that the author cannot read is linked like one that does not exist (S1).
      return canReadChannelMessage(view, sender, channel, latest) ? latest : null;
    },
    realmEmoji(name) {
      const emoji = view.realmEmoji.active(name);
      return emoji === undefined ? null : { name, url: emojiUrl(view, emoji.file) };
    },
    uploadedImage(path) {
      const attachment = previewable(view, sender, path);
      if (attachment === null || attachment.image === null) return null;
      const { isAnimated = false, ...image } = attachment.image;
      return { ...image, isAnimated, shownUrl: encodeURI(shownAt(view, attachment)) };
    },
    uploadedVideo(path) {
      const attachment = previewable(view, sender, path);
      return attachment === null ? null : encodeURI(uploadsPath + pathIdOf(view.realm.id, attachment));
    },
    emptyTopicDisplayName: emptyTopicName(view),
  };
}

/** A file that the organization allows in messages and the author may see (S1). */
function previewable(view: View, sender: UserRecord, path: string): AttachmentRecord | null {
  if (!realmSetting(view, "inline_image_preview")) return null;
  const attachment = linkedAttachment(view, path);
  if (attachment === undefined) return null;
  const { isVisible } = checkVisibility(view, sender, attachment, limits.attachment_messages_listed_max);
  return isVisible ? attachment : null;
}

/** The thumbnail of a picture, or the picture itself if it has none. */
function shownAt(view: View, attachment: AttachmentRecord): string {
  const path = pathIdOf(view.realm.id, attachment);
  if (!hasThumbnail(attachment)) return uploadsPath + path;
  const format = attachment.image?.isAnimated === true ? animatedFormat : stillFormat;
  return `${thumbnailsPath}${path}/${format.name}`;
}

/**
 * By id, checked against the name if both are given; by name only if it is unambiguous, where users who are here precede
 * deactivated ones (D279). Users that the sender may not see do not match (S1).
 */
function findUser(view: View, sender: UserRecord, name: string | null, id: number | null): MentionedUser | null {
  if (id !== null) {
    const user = view.users.get(id);
    if (user === undefined || !canAccessUser(view, sender, user)) return null;
    return name !== null && fold(user.fullName) !== fold(name) ? null : mentionedUser(user);
  }
  const namesakes = [...view.users.named(name ?? "")].flatMap((userId) => view.users.get(userId) ?? []);
  const known = namesakes.filter((user) => canAccessUser(view, sender, user));
  const active = known.filter(({ isActive }) => isActive);
  const [only, ...others] = active.length === 0 ? known : active;
  return only === undefined || others.length > 0 ? null : mentionedUser(only);
}

function mentionedUser({ id, fullName, isActive }: UserRecord): MentionedUser {
  return { id, fullName, isActive };
}

/** By exact name, else in any case; deactivated groups do not match. */
function findGroup(view: View, sender: UserRecord, name: string) {
  const ids = [view.groups.byName(name)?.id ?? 0, ...view.groups.named(name)];
  const group = ids.flatMap((id) => namedGroup(view, id) ?? []).find(({ isActive }) => isActive);
  if (group === undefined) return null;
  return {
    id: group.id,
    name: group.name,
    displayName: group.isSystem ? systemGroups[group.name as SystemGroupName].displayName : group.name,
    mentionable: canMentionGroup(view, sender, group),
  };
}
