/** The emoji of the server and of the organization. The list of Unicode emoji is loaded when it is first needed. */
import { computed, signal } from "@preact/signals";
import type { EmojiChoice } from "./actions.ts";
import { characterOf } from "./content.ts";
import { chat, customEmoji } from "./store.ts";

export interface Emoji {
  readonly name: string;
  readonly code: string;
  readonly type: EmojiChoice["reaction_type"];
  readonly character?: string;
  readonly url?: string;
}

export interface EmojiPickerProps {
  readonly onPick: (emoji: EmojiChoice) => void;
  readonly onClose: () => void;
}

const unicode = signal<readonly Emoji[]>([]);
let loading: Promise<void> | null = null;

/** Blocks of Unicode by how often people want them: faces, gestures and people, then animals and things, then symbols. */
const blocks = ["1f60", "1f61", "1f62", "1f63", "1f64", "1f91", "1f92", "1f97", "1f44", "1f4", "1f3", "1f9", "1f5"];

function rankOfBlock(code: string): number {
  const at = blocks.findIndex((start) => code.startsWith(start));
  return at < 0 ? blocks.length : at;
}

async function load(): Promise<void> {
  const url = chat.peek()?.server_emoji_data_url;
  if (url === undefined) return;
  // The address may have another name of the same server.
  const { pathname } = new URL(url, location.origin);
  const response = await fetch(pathname);
  const body = (await response.json()) as { readonly code_to_names: Readonly<Record<string, readonly string[]>> };
  const entries = Object.entries(body.code_to_names).sort(([a], [b]) => rankOfBlock(a) - rankOfBlock(b));
  unicode.value = entries.flatMap(([code, names]) =>
    names.map((name) => ({ name, code, type: "unicode_emoji" as const, character: characterOf(code) })),
  );
}

/** @throws Error if the list cannot be loaded; the next call tries again */
export function loadEmoji(): Promise<void> {
  loading ??= load().catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

const own = computed((): readonly Emoji[] =>
  Object.values(customEmoji.value)
    .filter(({ deactivated }) => !deactivated)
    .map(({ id, name, source_url: url }) => ({ name, code: id, type: "realm_emoji", url })),
);

const popular = ["+1", "tada", "smile", "heart", "working_on_it", "octopus", "thank_you", "joy", "eyes", "check"];

/** Popular ones first, because equal matches keep their order. */
export const emojiNames = computed((): readonly Emoji[] => {
  const isPopular = new Set(popular);
  const first = unicode.value.filter(({ name }) => isPopular.has(name));
  return [...own.value, ...first, ...unicode.value.filter(({ name }) => !isPopular.has(name))];
});

/** One entry for each picture, for the picker. */
export const emojiPictures = computed((): readonly Emoji[] => {
  const seen = new Set<string>();
  return emojiNames.value.filter(({ code, type }) => {
    const key = `${type} ${code}`;
    return seen.has(key) ? false : seen.add(key);
  });
});

export function choiceOf({ name, code, type }: Emoji): EmojiChoice {
  return { emoji_name: name, emoji_code: code, reaction_type: type };
}
