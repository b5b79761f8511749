// Emoticons that become emoji when the sender has translate_emoticons on: ":)" is ":smile:". Only where a space,
// punctuation or the edge of the text stands on both sides, so that "http://" and "a:)" stay what they are.

/** What is typed -> the name of the emoji it means. */
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

/** The emoji name of the emoticon that stands at `position`, or null; an emoticon is two characters long. */
export function emoticonAt(text: string, position: number): string | null {
  const name = EMOTICONS.get(text.slice(position, position + EMOTICON_LENGTH));
  if (name === undefined) return null;
  return isDelimiter(text[position - 1]) && isDelimiter(text[position + EMOTICON_LENGTH]) ? name : null;
}

function isDelimiter(character: string | undefined): boolean {
  return character === undefined || DELIMITERS.has(character);
}
