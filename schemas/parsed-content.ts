/**
 * The result of parsing Markdown: finished HTML, interleaved with references that only the realm's state can resolve (which
 * user, channel or realm emoji a name means). Plain data, because commands contain it (M3, M4).
 */

import type { MessageId } from "./ids.ts";

/** `typed` is the HTML to show if the reference cannot be resolved. */
export type Reference =
  | {
      readonly kind: "user";
      readonly name: string | null;
      readonly id: number | null;
      readonly silent: boolean;
      readonly typed: string;
    }
  | { readonly kind: "group"; readonly name: string; readonly silent: boolean; readonly typed: string }
  | { readonly kind: "channel"; readonly channel: string; readonly typed: string }
  | { readonly kind: "topic"; readonly channel: string; readonly topic: string; readonly typed: string }
  | {
      readonly kind: "message";
      readonly channel: string;
      readonly topic: string;
      readonly messageId: MessageId;
      readonly typed: string;
    }
  | { readonly kind: "emoji"; readonly name: string; readonly typed: string }
  /** Code that can be highlighted (code-highlighter.ts); where it is not, it is shown as `typed`. */
  | { readonly kind: "code"; readonly code: string; readonly language: string; readonly typed: string }
  | PreviewReference;

/** An uploaded file that is shown below the paragraph that links to it. */
export interface PreviewReference {
  readonly kind: "image" | "video";
  readonly path: string;
  readonly href: string;
  readonly title: string;
  readonly typed: string;
}

export type ContentPart = string | Reference;

export interface ParsedContent {
  readonly pieces: readonly ContentPart[];
  /** The source starts with "/me "; a me-message must also be a single paragraph. */
  readonly startsWithMe: boolean;
  readonly hasChannelWildcard: boolean;
  readonly hasTopicWildcard: boolean;
  readonly hasLink: boolean;
  readonly hasImage: boolean;
  /** The parts after `/user_uploads/` of the message's links, in order and without duplicates. */
  readonly attachmentPaths: readonly string[];
}
