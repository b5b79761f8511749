/** Characters of names, texts in one line, and addresses (D264). */
import t from "tap";
import { checkLine, isEmailAddress, unprintablePosition } from "../../domain/text.ts";

const lookAlikes: Readonly<Record<string, string>> = {
  NUL: "\0",
  escape: "\u001b",
  delete: "\u007f",
  "next line": "\u0085",
  "soft hyphen": "\u00ad",
  "grapheme joiner": "\u034f",
  "Arabic letter mark": "\u061c",
  "Hangul filler": "\u3164",
  "zero-width space": "\u200b",
  "left-to-right mark": "\u200e",
  "right-to-left mark": "\u200f",
  "line separator": "\u2028",
  "paragraph separator": "\u2029",
  "left-to-right embedding": "\u202a",
  "right-to-left override": "\u202e",
  "word joiner": "\u2060",
  "invisible plus": "\u2064",
  "first isolate": "\u2066",
  "last isolate": "\u2069",
  "byte order mark": "\ufeff",
  annotation: "\ufff9",
  "private use": "\ue000",
  "private use above the BMP": "\u{10fffd}",
  "lone surrogate": "\ud800",
  noncharacter: "\ufdd0",
  "last noncharacter": "\u{10ffff}",
  unassigned: "\u0378",
  "tag without a flag": "\u{e0041}",
};

const proper: readonly string[] = [
  "plain",
  "می\u200cخواهم",
  "क्\u200dष",
  "👩\u200d👩\u200d👧\u200d👦",
  "❤\ufe0f",
  "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} team",
  "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
  "🏴",
  "葛\u{e0100}",
  "Ω e\u0301 漢字 🇨🇭",
  "",
];

t.test("[D264] a name is rejected at the first character that makes it look like another one", async (t) => {
  for (const [what, character] of Object.entries(lookAlikes)) {
    t.equal(unprintablePosition(`🍎d${character}min`), 3, what);
    t.equal(unprintablePosition(character), 1, `${what} alone`);
  }
  for (const name of proper) t.equal(unprintablePosition(name), 0, JSON.stringify(name));
  for (const nothing of ["\u200d", "\u200c\u200d", " \ufe0f"])
    t.equal(unprintablePosition(nothing), 1, "a name that shows nothing");
});

t.test("[D264] a text in one line is rejected for what could break the line or is no character", async (t) => {
  for (const character of ["\0", "\n", "\u001b", "\u0085", "\u2028", "\ud800", "\ufdd0"])
    t.match(checkLine("text", `🍎${character}`), { msg: "Invalid character in text, at position 2." });
  for (const text of [...proper, "\u200b", "\ue000", "\u200fעברית"]) t.equal(checkLine("text", text), null);
});

t.test("[D264] an address holds nothing invisible", async (t) => {
  for (const [what, character] of Object.entries({ ...lookAlikes, joiner: "\u200d", variation: "\ufe0f" })) {
    t.notOk(isEmailAddress(`ad${character}min@example.com`, 254), what);
    t.notOk(isEmailAddress(`admin@exam${character}ple.com`, 254), what);
  }
  for (const address of ["a@example.com", "o'hara+x=1@example.org", "josé@example.com", "用户@example.com"])
    t.ok(isEmailAddress(address, 254), address);
});
