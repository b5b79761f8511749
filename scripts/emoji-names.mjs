/**
 * Writes `domain/emoji/emoji-names.json`: the names by which clients of this API know emoji. Run it only to follow
 * a new list:
 *
 *     npm install --ignore-scripts --prefix WORK emoji-datasource-google@15.1.2 cldr-annotations-full@47.0.0 \
 *       cldr-annotations-derived-full@47.0.0
 *     pip download --no-deps --dest WORK zulip-term==0.7.0 && unzip -d WORK WORK/zulip_term-*.whl
 *     node scripts/emoji-names.mjs WORK
 *
 * The packages are not dependencies of the project: together they have several hundred megabytes, and their lists
 * rarely change. About a thousand emoji have hand-picked names (zulip-term has that list); all others have their CLDR
 * names.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write("emoji-names: pass the folder with the packages, see the top of this file\n");
  process.exit(2);
}

const output = new URL("../domain/emoji/emoji-names.json", import.meta.url);

/** Hand-picked names that have changed since the list was published. */
const renamed = new Map([["1f64f", "folded_hands"]]);

const readJson = (...path) => JSON.parse(readFileSync(join(folder, "node_modules", ...path), "utf8"));

function readCurated() {
  const text = readFileSync(join(folder, "zulipterminal", "unicode_emojis.py"), "utf8");
  const entries = text.matchAll(/^\s*\("([^"]+)", \{'code': '([^']+)', 'aliases': \[([^\]]*)\]\}\),$/gm);
  return new Map(
    [...entries].map(([, name, code, aliases]) => {
      const names = [name, ...[...aliases.matchAll(/'([^']+)'/g)].map(([, alias]) => alias)];
      const newName = renamed.get(code);
      return [code, newName === undefined ? names : [newName, ...names.filter((other) => other !== newName)]];
    }),
  );
}

function readCldr() {
  const plain = readJson("cldr-annotations-full", "annotations", "en", "annotations.json").annotations.annotations;
  const derived = readJson("cldr-annotations-derived-full", "annotationsDerived", "en", "annotations.json");
  return { ...plain, ...derived.annotationsDerived.annotations };
}

/** Turns a phrase into a name: lower-case words joined by underscores, without punctuation. */
function nameOf(phrase) {
  const words = phrase.trim().replace(/[ \-–]/g, "_");
  return words
    .replace(/[“”‘’':.,()]/g, "")
    .replaceAll("&", "and")
    .replace(/_{2,}/g, "_")
    .toLowerCase();
}

/** The name without accents, or the name itself if there is no ASCII form. */
function plainNameOf(name) {
  const plain = name.normalize("NFD").replace(/\p{M}/gu, "");
  return /^[\x20-\x7e]+$/.test(plain) ? plain : name;
}

/** Skin tones are not emoji of their own, and the only clock included is eight o'clock. */
function isLeftOut(code) {
  const first = Number.parseInt(code, 16);
  return (first >= 0x1f550 && first <= 0x1f567 && first !== 0x1f557) || (first >= 0x1f3fb && first <= 0x1f3ff);
}

/** Every emoji of the picture set by its code, in the set's order. */
function readEmoji(cldr) {
  return readJson("emoji-datasource-google", "emoji.json").flatMap((emoji) => {
    const code = (emoji.non_qualified ?? emoji.unified).toLowerCase();
    const points = emoji.unified.split("-").map((point) => Number.parseInt(point, 16));
    const annotation = cldr[String.fromCodePoint(...points).replaceAll("\ufe0f", "")];
    if (isLeftOut(code)) return [];
    return [{ code, name: nameOf(annotation?.tts[0] ?? ""), words: (annotation?.default ?? []).map(nameOf) }];
  });
}

const curated = readCurated();
const emoji = readEmoji(readCldr());

// CLDR gave some hand-picked names to newer emoji: the newer ones keep them, and the older ones get their CLDR names.
const cldrNames = new Map(emoji.map(({ code, name }) => [name, code]));
for (const [code, [name]] of curated) {
  const owner = cldrNames.get(name);
  if (owner !== undefined && owner !== code && !curated.has(owner)) curated.delete(code);
}

const named = emoji
  .map(({ code, name, words }) => ({
    code,
    isCurated: curated.has(code),
    names: curated.get(code) ?? [name, ...words],
  }))
  .filter(({ names }) => names[0] !== "");
const canonical = new Set(named.map(({ names }) => names[0]));
const holders = new Map();
for (const { code, names } of named) {
  for (const alias of names.slice(1)) holders.set(alias, [...(holders.get(alias) ?? []), code]);
}
const isKept = (alias, isCurated) => !canonical.has(alias) && (isCurated || holders.get(alias).length === 1);
const result = named.map(({ code, isCurated, names: [first, ...aliases] }) => {
  const own = [first, ...aliases.filter((alias) => isKept(alias, isCurated))];
  return [code, [...new Set([...own, ...own.map(plainNameOf)])]];
});

const all = result.flatMap(([, names]) => names);
const twice = all.filter((name, position) => all.indexOf(name) !== position);
if (twice.length > 0) throw new Error(`Two emoji have the same name: ${twice.join(", ")}`);

const table = Object.fromEntries(result.map(([code, names]) => [code, names.join(" ")]));
writeFileSync(output, `${JSON.stringify(table, null, 2)}\n`);
process.stdout.write(`${result.length} emoji, ${all.length} names\n`);
