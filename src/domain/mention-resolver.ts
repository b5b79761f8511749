/** What a message's references mean to its sender: people, groups, channels (Markdown dialect of the public API). */

import { pathIdOf, uploadsPath } from "../../schemas/files.ts";
import { fold } from "../../schemas/fold.ts";
import { type SystemGroupName, systemGroups } from "../../schemas/group-settings.ts";
import { limits } from "../../schemas/limits.ts";
import type { UserRecord } from "../../schemas/records.ts";
import { glanceAt, linkedAttachment } from "./attachments.ts";
import { emojiUrl } from "./emoji/custom-emoji.ts";
import { canMentionGroup, namedGroup } from "./group-permissions.ts";
import type { Resolver } from "./markdown/render.ts";
import { canAccessUser } from "./people.ts";
import { canReadChannelMessage, hasMetadataAccess } from "./permissions.ts";
import { emptyTopicName, meantTopic } from "./topics.ts";
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
      const named = view.row("topicNames", [channelId, fold(meantTopic(view, topic))]);
      const latest = named === undefined ? undefined : view.row("conversations", named.id)?.lastMessageId;
      if (channel === undefined || latest === undefined) return null;
      // A topic that the author cannot read is linked to as one that is not there (S1).
      return canReadChannelMessage(view, sender, channel, latest) ? latest : null;
    },
    realmEmoji(name) {
      const emoji = view.realmEmoji.active(name);
      return emoji === undefined ? null : { name, url: emojiUrl(view, emoji.file) };
    },
    uploadedImage(path) {
      const attachment = linkedAttachment(view, path);
      const image = attachment?.image ?? null;
      if (attachment === undefined || image === null) return null;
      if (!glanceAt(view, sender, attachment, limits.attachment_messages_told_max).isVisible) return null;
      // There are no thumbnails: the picture itself is shown.
      return { ...image, thumbnailUrl: encodeURI(uploadsPath + pathIdOf(view.realm.id, attachment)) };
    },
    emptyTopicDisplayName: emptyTopicName(view),
  };
}

/** By id, checked against the name if both are given; by name only when it is not ambiguous. Strangers are nobody (S1). */
function findUser(
  view: View,
  sender: UserRecord,
  name: string | null,
  id: number | null,
): { id: number; fullName: string } | null {
  if (id !== null) {
    const user = view.users.get(id);
    if (user === undefined || !canAccessUser(view, sender, user)) return null;
    if (name !== null && fold(user.fullName) !== fold(name)) return null;
    return { id: user.id, fullName: user.fullName };
  }
  const namesakes = [...view.users.named(name ?? "")].flatMap((userId) => view.users.get(userId) ?? []);
  const living = namesakes.filter((user) => user.isActive && canAccessUser(view, sender, user));
  const [only] = living;
  return only === undefined || living.length > 1 ? null : { id: only.id, fullName: only.fullName };
}

/** Exactly as it is written, else in any case; a deactivated group is nobody's to name. */
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
