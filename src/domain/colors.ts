/** Colours as clients write them. */

/** The public API's form: a hash and three to six hexadecimal digits. */
export function isColor(text: string): boolean {
  return /^#[0-9a-fA-F]{3,6}$/.test(text);
}
