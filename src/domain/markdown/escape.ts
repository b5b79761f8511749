// The only two ways in which text becomes HTML. Output is safe by construction: every other string that reaches the
// output is a constant of this folder, or KaTeX's own markup.

const TEXT_SPECIAL = /[&<>]/g;
const ATTRIBUTE_SPECIAL = /[&<>"']/g;
const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text between tags; quotes stay as they are. */
export function escapeText(text: string): string {
  return text.replace(TEXT_SPECIAL, (character) => ENTITIES[character] ?? "");
}

/** Text inside a double-quoted attribute value, and code, where quotes are escaped as well. */
export function escapeAttribute(text: string): string {
  return text.replace(ATTRIBUTE_SPECIAL, (character) => ENTITIES[character] ?? "");
}
