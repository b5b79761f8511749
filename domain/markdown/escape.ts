// The only two functions that turn text into HTML. Output is safe by construction: every other string in the output is
// a constant of this folder or KaTeX's own markup.

const TEXT_SPECIAL = /[&<>]/g;
const ATTRIBUTE_SPECIAL = /[&<>"']/g;
const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text between tags; quotes are not escaped. */
export function escapeText(text: string): string {
  return text.replace(TEXT_SPECIAL, (character) => ENTITIES[character] ?? "");
}

/** Text in a double-quoted attribute value, and code, where quotes are escaped too. */
export function escapeAttribute(text: string): string {
  return text.replace(ATTRIBUTE_SPECIAL, (character) => ENTITIES[character] ?? "");
}
