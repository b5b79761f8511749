// The second half of rendering, inside the turn: resolves names to the realm's users, groups, channels and images as
// they are now. It does no parsing, only lookups and string joins, and does not even import the parser.

import type { ChannelId, GroupId, MessageId, UserId } from "../../schemas/ids.ts";
import type { ParsedContent, PreviewReference, Reference } from "../../schemas/parsed-content.ts";
import { TOPIC_LOOKUPS_PER_MESSAGE_MAX } from "./bounds.ts";
import { emojiImage } from "./emoji-html.ts";
import { escapeAttribute, escapeText } from "./escape.ts";

export interface UploadedImage {
  /** URL of its thumbnail, or of the image itself. */
  readonly shownUrl: string;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly contentType: string;
  readonly isAnimated: boolean;
}

export interface MentionedUser {
  readonly id: number;
  readonly fullName: string;
  /** Deactivated users are mentioned silently. */
  readonly isActive: boolean;
}

/** The realm as the author sees it (S1): names that the author may not know resolve to null. */
export interface Resolver {
  /** By name (any case), by id, or by both, which must then agree. */
  user(name: string | null, id: number | null): MentionedUser | null;
  group(
    name: string,
  ): { readonly id: number; readonly name: string; readonly displayName: string; readonly mentionable: boolean } | null;
  channel(name: string): { readonly id: number; readonly name: string } | null;
  topicLatestMessageId(channelId: ChannelId, topic: string): number | null;
  realmEmoji(name: string): { readonly url: string; readonly name: string } | null;
  /** An uploaded image that can be shown below the message; absent where there are no uploads. */
  uploadedImage?(path: string): UploadedImage | null;
  /** URL of an uploaded video that can be shown below the message; absent where there are no uploads. */
  uploadedVideo?(path: string): string | null;
  readonly emptyTopicDisplayName: string;
}

export interface RenderedContent {
  readonly html: string;
  /** Users whom the message mentions, except silently, in order and without duplicates. */
  readonly mentionedUserIds: readonly UserId[];
  readonly mentionedGroupIds: readonly GroupId[];
  /**
   * Groups that the author tried to mention without permission: they are shown silently, and the message may be
   * rejected because of them.
   */
  readonly unmentionableGroupIds: readonly number[];
  readonly hasChannelWildcard: boolean;
  readonly hasTopicWildcard: boolean;
  readonly hasLink: boolean;
  readonly hasImage: boolean;
  readonly hasAttachment: boolean;
  readonly attachmentPaths: readonly string[];
  readonly isMeMessage: boolean;
}

const LONE_SURROGATE = /\p{Surrogate}/gu;

/** The message's HTML and its meaning for others. Costs one lookup per reference. */
export function resolveContent(parsed: ParsedContent, resolver: Resolver): RenderedContent {
  const resolution = new Resolution(resolver);
  const html = parsed.pieces.map((piece) => (typeof piece === "string" ? piece : resolution.render(piece))).join("");
  return {
    html,
    mentionedUserIds: [...resolution.userIds],
    mentionedGroupIds: [...resolution.groupIds],
    unmentionableGroupIds: [...resolution.unmentionableGroupIds],
    hasChannelWildcard: parsed.hasChannelWildcard,
    hasTopicWildcard: parsed.hasTopicWildcard,
    hasLink: parsed.hasLink,
    hasImage: parsed.hasImage,
    hasAttachment: parsed.attachmentPaths.length > 0,
    attachmentPaths: parsed.attachmentPaths,
    isMeMessage: parsed.startsWithMe && /^<p>[^\n]*<\/p>$/.test(html),
  };
}

class Resolution {
  readonly userIds = new Set<number>();
  readonly groupIds = new Set<number>();
  readonly unmentionableGroupIds = new Set<number>();
  readonly #resolver: Resolver;
  readonly #latest = new Map<string, number | null>();

  constructor(resolver: Resolver) {
    this.#resolver = resolver;
  }

  render(reference: Reference): string {
    switch (reference.kind) {
      case "user":
        return this.#user(reference);
      case "group":
        return this.#group(reference);
      case "channel":
      case "topic":
      case "message":
        return this.#channel(reference);
      case "emoji": {
        const emoji = this.#resolver.realmEmoji(reference.name);
        return emoji === null ? reference.typed : emojiImage(emoji.name, emoji.url);
      }
      case "code":
        return reference.typed;
      case "image":
        return this.#image(reference);
      case "video":
        return this.#video(reference);
    }
  }

  #user(reference: Extract<Reference, { kind: "user" }>): string {
    const user = this.#resolver.user(reference.name, reference.id);
    if (user === null) return reference.typed;
    const silent = reference.silent || !user.isActive;
    if (!silent) this.userIds.add(user.id);
    return mention({
      names: "user-mention",
      attribute: "data-user-id",
      id: user.id,
      text: user.fullName,
      silent,
    });
  }

  #group(reference: Extract<Reference, { kind: "group" }>): string {
    const group = this.#resolver.group(reference.name);
    if (group === null) return reference.typed;
    const silent = reference.silent || !group.mentionable;
    if (!silent) this.groupIds.add(group.id);
    if (!reference.silent && !group.mentionable) this.unmentionableGroupIds.add(group.id);
    return mention({
      names: "user-group-mention",
      attribute: "data-user-group-id",
      id: group.id,
      text: group.displayName,
      silent,
    });
  }

  #channel(reference: Extract<Reference, { kind: "channel" | "topic" | "message" }>): string {
    const channel = this.#resolver.channel(reference.channel);
    if (channel === null) return reference.typed;
    const path = `/${channelPath(channel)}`;
    const name = `#${escapeText(channel.name)}`;
    if (reference.kind === "channel") {
      return `<a class="stream" data-stream-id="${channel.id}" href="${escapeAttribute(path)}">${name}</a>`;
    }
    const topic =
      reference.topic === ""
        ? `<em>${escapeText(this.#resolver.emptyTopicDisplayName)}</em>`
        : escapeText(reference.topic);
    if (reference.kind === "message") {
      const href = `/${messagePath(channel, reference.topic, reference.messageId)}`;
      return `<a class="message-link" href="${escapeAttribute(href)}">${name} &gt; ${topic} @ 💬</a>`;
    }
    const topicPath = `/${channelPath(channel, reference.topic)}`;
    const latest = this.#latestMessageId(channel.id, reference.topic);
    const href = latest === null ? topicPath.replace(/(?<=topic\/.+)\/$/, "") : `${topicPath}with/${latest}`;
    return `<a class="stream-topic" data-stream-id="${channel.id}" href="${escapeAttribute(href)}">${name} &gt; ${topic}</a>`;
  }

  #latestMessageId(channelId: ChannelId, topic: string): number | null {
    const key = `${channelId} ${topic}`;
    const known = this.#latest.get(key);
    if (known !== undefined) return known;
    if (this.#latest.size >= TOPIC_LOOKUPS_PER_MESSAGE_MAX) return null;
    const latest = this.#resolver.topicLatestMessageId(channelId, topic);
    this.#latest.set(key, latest);
    return latest;
  }

  #image(reference: PreviewReference): string {
    const image = this.#resolver.uploadedImage?.(reference.path) ?? null;
    if (image === null) return reference.typed;
    const animated = image.isAnimated ? 'data-animated="true" ' : "";
    const source = `${animated}data-original-dimensions="${image.widthPx}x${image.heightPx}" data-original-content-type="${escapeAttribute(image.contentType)}" src="${escapeAttribute(image.shownUrl)}"`;
    return `<div class="message_inline_image">${previewLink(reference, `<img ${source}>`)}</div>`;
  }

  #video(reference: PreviewReference): string {
    const url = this.#resolver.uploadedVideo?.(reference.path) ?? null;
    if (url === null) return reference.typed;
    const video = `<video preload="metadata" src="${escapeAttribute(url)}"></video>`;
    return `<div class="message_inline_image message_inline_video">${previewLink(reference, video)}</div>`;
  }
}

function previewLink({ href, title }: PreviewReference, shown: string): string {
  const titleAttribute = title === "" ? "" : ` title="${escapeAttribute(title)}"`;
  return `<a href="${escapeAttribute(href)}"${titleAttribute}>${shown}</a>`;
}

interface Mention {
  readonly names: string;
  readonly attribute: string;
  readonly id: number;
  readonly text: string;
  readonly silent: boolean;
}

function mention({ names, attribute, id, text, silent }: Mention): string {
  const classes = silent ? `${names} silent` : names;
  return `<span class="${classes}" ${attribute}="${id}">${silent ? "" : "@"}${escapeText(text)}</span>`;
}

/**
 * The client-side URL of a channel, or with a topic the beginning of the topic's URLs, relative to the organization's
 * address.
 */
export function channelPath(channel: { readonly id: number; readonly name: string }, topic?: string): string {
  const path = `#narrow/channel/${channel.id}-${encodeHash(channel.name.replaceAll(" ", "-"))}`;
  return topic === undefined ? path : `${path}/topic/${encodeHash(topic)}${topic === "" ? "" : "/"}`;
}

/** The client-side URL of a message; the topic part is present even for the empty topic. */
export function messagePath(
  channel: { readonly id: number; readonly name: string },
  topic: string,
  messageId: MessageId,
): string {
  return `${channelPath(channel)}/topic/${encodeHash(topic)}/near/${messageId}`;
}

/**
 * The client-side URL of a direct conversation.
 * @param otherIds its participants, except the reader
 */
export function directPath(otherIds: readonly number[]): string {
  return `#narrow/dm/${otherIds.join(",")}-${otherIds.length > 1 ? "group" : "dm"}`;
}

// Characters that `encodeURIComponent` keeps and Zulip encodes; a parenthesis would also end a link's URL.
const LEFT_ALONE = /[.!'()*]/g;

/** Encodes a part of a `#narrow` URL: percent-encoding with a full stop instead of the percent sign. */
export function encodeHash(text: string): string {
  const encoded = encodeURIComponent(text.replace(LONE_SURROGATE, "\ufffd")).replace(LEFT_ALONE, percentEncoded);
  return encoded.replaceAll("%", ".");
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
