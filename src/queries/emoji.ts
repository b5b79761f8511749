/** Custom emoji objects (public API: get-custom-emoji; /register and events use the same objects). */
import { emojiUrl } from "../../domain/custom-emoji.ts";
import type { View } from "../../domain/view.ts";
import type { Section } from "./state-section.ts";

export interface EmojiBody {
  readonly id: string;
  readonly name: string;
  readonly source_url: string;
  /** First frame of an animated emoji; null if it is not animated. */
  readonly still_url: string | null;
  readonly deactivated: boolean;
  readonly author_id: number;
}

/** All by id, deactivated ones included. */
export function customEmoji(view: View): Record<string, EmojiBody> {
  const all: Record<string, EmojiBody> = {};
  for (const { id, name, file, stillFile, isActive, authorId } of view.realmEmoji.all()) {
    all[String(id)] = {
      id: String(id),
      name,
      source_url: emojiUrl(view, file),
      still_url: stillFile === null ? null : emojiUrl(view, stillFile),
      deactivated: !isActive,
      author_id: authorId,
    };
  }
  return all;
}

export const realmEmojiState: Section<"realm_emoji"> = (view) => ({ realm_emoji: customEmoji(view) });
