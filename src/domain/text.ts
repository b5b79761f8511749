/** Rules for names and texts: length in code points (D8), case folding, printable characters. */
import { type Refusal, refuse } from "../../schemas/errors.ts";

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

// Names must not contain control characters, surrogates or non-characters (as in the public API).
const unprintable = /[\p{Cc}\p{Cs}\u{FDD0}-\u{FDEF}]/u;

/** 1-based position, in code points, of the first invalid character of a name; 0 if there is none. */
export function unprintablePosition(name: string): number {
  let position = 0;
  for (const character of name) {
    position++;
    const code = character.codePointAt(0) ?? 0;
    if (unprintable.test(character) || (code & 0xfffe) === 0xfffe) return position;
  }
  return 0;
}

/** Rules for a channel name (spec 4.3); the name must be trimmed. */
export function checkChannelName(name: string, codePointsMax: number): Refusal | null {
  if (name === "") return refuse.badRequest("Channel name can't be empty.");
  if (codePoints(name) > codePointsMax) {
    return refuse.badRequest(`Channel name too long (limit: ${codePointsMax} characters).`);
  }
  const position = unprintablePosition(name);
  return position === 0 ? null : refuse.badRequest(`Invalid character in channel name, at position ${position}.`);
}

/** Rules for a user's name (as in the public API, 2.1). */
export function checkFullName(name: string, codePointsMax: number): Refusal | null {
  if (name === "") return refuse.badRequest("Name too short!");
  if (codePoints(name) > codePointsMax) return refuse.badRequest("Name too long!");
  if (unprintablePosition(name) > 0 || /[*`\\>"@]/.test(name)) return refuse.badRequest("Invalid characters in name!");
  if (/\|\d+$/.test(name)) return refuse.badRequest("Invalid format!");
  return null;
}

// One @ with text on both sides, no white space or control characters, and a host name on the right.
const emailShape = /^[^\s@<>()[\]\\,;:"]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/;

export function isEmailAddress(text: string, codePointsMax: number): boolean {
  return codePoints(text) <= codePointsMax && emailShape.test(text);
}
