// Emoticons that become emoji if the sender enabled translate_emoticons: ":)" is ":smile:". Only between spaces,
// punctuation or the ends of the text, so that "http://" and "a:)" stay unchanged.

/** Maps an emoticon to the name of its emoji. */
export const EMOTICONS: ReadonlyMap<string, string> = new Map([
  [":)", "smile"],
  ["(:", "smile"],
  [":(", "frown"],
  ["<3", "heart"],
  [":|", "neutral"],
  [":/", "confused"],
  [";)", "wink"],
  [":D", "grinning"],
  [":o", "open_mouth"],
  [":O", "open_mouth"],
  [":p", "stuck_out_tongue"],
  [":P", "stuck_out_tongue"],
]);

const EMOTICON_LENGTH = 2;
const DELIMITERS = new Set(",.;?!()[] \"'\n\t");

/** The emoji name of the emoticon at `position`, or null; an emoticon has two characters. */
export function emoticonAt(text: string, position: number): string | null {
  const name = EMOTICONS.get(text.slice(position, position + EMOTICON_LENGTH));
  if (name === undefined) return null;
  return isDelimiter(text[position - 1]) && isDelimiter(text[position + EMOTICON_LENGTH]) ? name : null;
}

function isDelimiter(character: string | undefined): boolean {
  return character === undefined || DELIMITERS.has(character);
}
