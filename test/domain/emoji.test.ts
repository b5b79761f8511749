// The emoji tables: names and codes as clients of this API know them, and emoji characters found in text.
import t from "tap";
import { dialectNames } from "../../src/domain/emoji/dialect-names.ts";
import {
  charactersOfCode,
  emojiByCharacters,
  emojiByCode,
  emojiByName,
  emojiCodes,
  isEmojiName,
} from "../../src/domain/emoji/emoji-table.ts";
import { EMOTICONS, emoticonAt } from "../../src/domain/emoji/emoticons.ts";
import { emojiRunAt } from "../../src/domain/emoji/unicode-emoji.ts";

t.test("[behaviour 5.8, pairs 12 and 15] well-known emoji have the dialect's names", async (t) => {
  for (const [code, name] of Object.entries({
    "1f642": "smile",
    "1f4a9": "poop",
    "1f44d": "+1",
    "2764": "heart",
    "1f389": "tada",
    "1f419": "octopus",
    "1f6e0": "working_on_it",
    "1f408": "cat",
    "1f641": "frown",
    "1f384": "holiday_tree",
    "0031-20e3": "one",
    "2705": "check",
    "1f937-200d-2640": "woman_shrugging",
  })) {
    t.equal(emojiByCode(code)?.names[0], name, code);
    t.same(emojiByName(name), { code, name });
  }
});

t.test("[issue 4] aliases lead to the canonical name, unknown names to nothing", async (t) => {
  t.same(emojiByName("thumbs_up"), { code: "1f44d", name: "+1" });
  t.same(emojiByName("thumbsup"), { code: "1f44d", name: "+1" });
  for (const name of ["not_an_emoji", "", "Smile", "toString", "skin-tone-2"]) t.equal(emojiByName(name), null, name);
  t.equal(emojiByCode("zzzz"), null);
  t.same([isEmojiName("zulip"), isEmojiName("smile"), isEmojiName("nope_nope")], [true, true, false]);
  t.equal(emojiByName("zulip"), null, "the extra emoji has no Unicode code");
});

t.test(
  "[issue 4] names and codes agree: every code has a name, every name one code, no code holds fe0f or a skin tone",
  async (t) => {
    const codes = [...emojiCodes()];
    t.ok(codes.length > 1_800, `only ${codes.length} emoji`);
    const wrong = codes.filter((code) => {
      const names = emojiByCode(code)?.names ?? [];
      const agree =
        names.length > 0 &&
        names.every((name) => emojiByName(name)?.code === code && emojiByName(name)?.name === names[0]);
      return !agree || !/^[0-9a-f]{4,5}(-[0-9a-f]{4,5})*$/.test(code) || /fe0f|1f3f[b-f]/.test(code);
    });
    t.same(wrong, []);
    t.same(
      codes.filter((code) => emojiByCharacters(charactersOfCode(code))?.code !== code),
      [],
    );
  },
);

t.test("[issue 4] the dialect's names are unique, and each is the canonical one where it comes first", async (t) => {
  const names = dialectNames().flatMap(([, own]) => own);
  t.same(
    names.filter((name, position) => names.indexOf(name) !== position),
    [],
  );
  for (const [code, [first]] of dialectNames()) t.equal(emojiByCode(code)?.names[0], first, code);
});

t.test("[issue 4] emoji characters are found whole, with and without variation selectors", async (t) => {
  const find = (text: string): [string | null, number] | null => {
    const run = emojiRunAt(text, 0);
    return run === null ? null : [run.emoji?.code ?? null, run.end];
  };
  t.same(find("💩x"), ["1f4a9", 2]);
  t.same(find("❤"), ["2764", 1]);
  t.same(find("❤️"), ["2764", 2]);
  t.same(find("1️⃣"), ["0031-20e3", 3]);
  t.same(find("🇩🇪🇫🇷"), ["1f1e9-1f1ea", 4]);
  t.same(find("🤷\u200d♀️"), ["1f937-200d-2640", 5]);
  t.same(find("🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}")?.[1], 14);
  t.same(find("🍋\u200d🟪"), [null, 5], "a sequence that nobody knows stays text as a whole");
  t.same(find("👍🏽"), [null, 4]);
  t.same(find("❤\ufe0e"), [null, 2], "text style is respected");
  for (const text of ["a", "1", "#", "", "©", "™", "\u200d", "\ufe0f"]) t.equal(find(text), null, JSON.stringify(text));
  t.same(find("©️"), ["00a9", 2]);
});

t.test("[behaviour 5.8, pair 17] every emoticon means an emoji, between spaces and punctuation only", async (t) => {
  for (const [emoticon, name] of EMOTICONS) {
    t.ok(emojiByName(name), emoticon);
    t.equal(emoticonAt(`so ${emoticon}.`, 3), name, emoticon);
    t.equal(emoticonAt(`so${emoticon}`, 2), null, emoticon);
    t.equal(emoticonAt(`${emoticon}so`, 0), null, emoticon);
  }
  t.equal(emoticonAt("http://a", 4), null);
});
