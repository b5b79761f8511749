// The emoji tables: names and codes as in clients of this API, and emoji characters found in text.
import t from "tap";
import {
  charactersOfCode,
  clientEmojiNames,
  EMOTICONS,
  emojiByCharacters,
  emojiByCode,
  emojiByName,
  emojiCodes,
  emoticonAt,
  isEmojiName,
} from "../../domain/emoji/emoji-table.ts";
import { emojiRunAt } from "../../domain/emoji/unicode-emoji.ts";

t.test("[behaviour 5.8] well-known emoji have the public API's names", async (t) => {
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

t.test("[behaviour 5.8] aliases resolve to the canonical name, unknown names to nothing", async (t) => {
  t.same(emojiByName("thumbs_up"), { code: "1f44d", name: "+1" });
  t.same(emojiByName("like"), { code: "1f44d", name: "+1" });
  for (const name of ["not_an_emoji", "fried_egg", "man-girl-girl", "thumbsup", "", "Smile", "toString", "skin-tone-2"])
    t.equal(emojiByName(name), null, name);
  t.equal(emojiByCode("zzzz"), null);
  t.same([isEmojiName("zulip"), isEmojiName("smile"), isEmojiName("nope_nope")], [true, true, false]);
  t.equal(emojiByName("zulip"), null, "the extra emoji has no Unicode code");
});

t.test("[behaviour 5.8] every code has a name, every name one code, no code fe0f or a skin tone", async (t) => {
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
  const found = codes.filter((code) => emojiByCharacters(charactersOfCode(code))?.code !== code);
  t.same(found, []);
});

t.test("[spec 2.7] the clients' list is complete: 1,875 emoji and 3,308 names, each of one emoji", async (t) => {
  const list = clientEmojiNames();
  const names = list.flatMap(([, own]) => own);
  t.equal(list.length, 1_875);
  t.equal(names.length, 3_308);
  t.equal(new Set(names).size, names.length);
  t.equal(list.filter(([, [first = ""]]) => first.startsWith("flag_")).length, 261);
  for (const [code, own] of list) {
    t.same(emojiByCode(code)?.names.slice(0, own.length), own, code);
    for (const name of own) t.same(emojiByName(name), { code, name: own[0] }, name);
  }
});

t.test("[spec 2.7] a name selects the clients' emoji, even if the data set has another one", async (t) => {
  for (const [name, code] of Object.entries({
    pencil: "270f",
    kiss: "1f48f",
    satellite: "1f6f0",
    euro: "1fa99",
    dollar: "1fa99",
    metal: "1fa99",
    de: "1fa85",
    brick: "1f9f1",
    puzzle_piece: "1f9e9",
    salute: "1fae1",
    smiling_face_with_hearts: "1f970",
    flag_germany: "1f1e9-1f1ea",
    piñata: "1fa85",
    pinata: "1fa85",
  })) {
    t.equal(emojiByName(name)?.code, code, name);
  }
  t.equal(emojiByCode("1f64f")?.names[0], "folded_hands");
});

t.test("[spec 2.7] emoji newer than the clients' list have the data set's names and replace none", async (t) => {
  const listed = new Set(clientEmojiNames().map(([code]) => code));
  t.notOk(listed.has("1fac6"));
  t.same(emojiByName("fingerprint"), { code: "1fac6", name: "fingerprint" });
  const taken = new Map(clientEmojiNames().flatMap(([code, names]) => names.map((name) => [name, code])));
  for (const code of emojiCodes()) {
    for (const name of emojiByCode(code)?.names ?? []) t.equal(taken.get(name) ?? code, code, name);
  }
});

t.test("[behaviour 5.8] emoji characters are found whole, with and without variation selectors", async (t) => {
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
  t.same(find("🍋\u200d🟪"), [null, 5], "an unknown sequence stays text as a whole");
  t.same(find("👍🏽"), [null, 4]);
  t.same(find("❤\ufe0e"), [null, 2], "text style is respected");
  for (const text of ["a", "1", "#", "", "©", "™", "\u200d", "\ufe0f"]) t.equal(find(text), null, JSON.stringify(text));
  t.same(find("©️"), ["00a9", 2]);
});

t.test("[behaviour 5.8] every emoticon becomes an emoji, between spaces and punctuation only", async (t) => {
  for (const [emoticon, name] of EMOTICONS) {
    t.ok(emojiByName(name), emoticon);
    t.equal(emoticonAt(`so ${emoticon}.`, 3), name, emoticon);
    t.equal(emoticonAt(`so${emoticon}`, 2), null, emoticon);
    t.equal(emoticonAt(`${emoticon}so`, 0), null, emoticon);
  }
  t.equal(emoticonAt("http://a", 4), null);
});
