/** Rules for names and texts: length in code points (D8), case folding, printable characters. */
import { type Refusal, refuse } from "../schemas/errors.ts";

/** Number of Unicode code points, counted without allocating. */
export function codePoints(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff && index + 1 < text.length) {
      const next = text.charCodeAt(index + 1);
      if (next >= 0xdc00 && next <= 0xdfff) index++;
    }
    count++;
  }
  return count;
}

/** The first `count` code points. */
export function truncate(text: string, count: number): string {
  return text.length <= count ? text : Array.from(text).slice(0, count).join("");
}

/** Compares by code points; JavaScript compares UTF-16 units, which puts emoji before some letters. */
export function compareText(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let index = 0; index < shorter; index++) {
    if (a.charCodeAt(index) === b.charCodeAt(index)) continue;
    return (a.codePointAt(index) ?? 0) - (b.codePointAt(index) ?? 0);
  }
  return a.length - b.length;
}

/**
 * Characters that make one name look like another (D264): controls, surrogates, private use, unassigned, line and
 * paragraph separators, annotations, and everything invisible. The joiners and variation selectors stay, which emoji
 * and several scripts need, and so do the tags behind a black flag: 🏴󠁧󠁢󠁥󠁮󠁧󠁿.
 */
const nameParts =
  /\u{1F3F4}[\u{E0020}-\u{E007F}]+|\u200C|\u200D|[\uFE00-\uFE0F\u180B-\u180D\u180F\u{E0100}-\u{E01EF}]|([\p{Cc}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{DI}\uFFF9-\uFFFB])/gu;

/** 1-based position, in code points, of the first invalid character of a name; 0 if there is none. */
export function unprintablePosition(name: string): number {
  if (printableAscii.test(name)) return 0;
  for (const { 1: invalid, index } of name.matchAll(nameParts))
    if (invalid !== undefined) return codePoints(name.slice(0, index)) + 1;
  // Joiners, selectors and tags that belong to nothing.
  return name.replaceAll(/\p{DI}/gu, "").trim() === "" ? 1 : 0;
}
// Most names, and that of the empty topic.
const printableAscii = /^[ -~]*$/;

/** Why a name is rejected for one of its characters, or null. */
export function checkCharacters(what: string, name: string): Refusal | null {
  const position = unprintablePosition(name);
  return position === 0 ? null : refuse.badRequest(`Invalid character in ${what}, at position ${position}.`);
}

/** Why a text in one line is rejected for one of its characters, or null: it may hold what only a name must not. */
export function checkLine(what: string, text: string): Refusal | null {
  const found = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\p{Zl}\p{Zp}]/u.exec(text);
  if (found === null) return null;
  return refuse.badRequest(`Invalid character in ${what}, at position ${codePoints(text.slice(0, found.index)) + 1}.`);
}

/** The same for a text of several lines, which may hold tabs and line breaks. */
export function checkLines(what: string, text: string): Refusal | null {
  return checkLine(what, text.replaceAll(/[\t\n\r\u2028\u2029]/g, " "));
}

/** Rules for a channel name (spec 4.3); the name must be trimmed. */
export function checkChannelName(name: string, codePointsMax: number): Refusal | null {
  if (name === "") return refuse.badRequest("Channel name can't be empty.");
  if (codePoints(name) > codePointsMax) {
    return refuse.badRequest(`Channel name too long (limit: ${codePointsMax} characters).`);
  }
  return checkCharacters("channel name", name);
}

/** Rules for a user's name (as in the public API, 2.1). */
export function checkFullName(name: string, codePointsMax: number): Refusal | null {
  if (name === "") return refuse.badRequest("Name too short!");
  if (codePoints(name) > codePointsMax) return refuse.badRequest("Name too long!");
  if (unprintablePosition(name) > 0 || /[*`\\>"@]/.test(name)) return refuse.badRequest("Invalid characters in name!");
  if (/\|\d+$/.test(name)) return refuse.badRequest("Invalid format!");
  return null;
}

// One @ with text on both sides, no white space and nothing invisible, and a host name on the right.
const emailShape = /^[^\s\p{C}\p{DI}@<>()[\]\\,;:"]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/u;

export function isEmailAddress(text: string, codePointsMax: number): boolean {
  return codePoints(text) <= codePointsMax && emailShape.test(text);
}
