/**
 * Linkifiers (public API: /realm/linkifiers): which patterns are accepted, what they match, and that neither a single
 * pattern nor many make a message expensive (S3).
 */
import fc from "fast-check";
import t from "tap";
import {
  LINKIFIER_LINE_CHARS_MAX,
  LINKIFIER_MATCHES_MAX,
  LINKIFIER_PATTERN_CHARS_MAX,
  LINKIFIER_PROGRAM_STEPS_MAX,
  LINKIFIER_STEPS_PER_MESSAGE_MAX,
  LINKIFIERS_PER_MESSAGE_MAX,
} from "../../domain/markdown/bounds.ts";
import { compileLinkifierPattern, measurePattern } from "../../domain/markdown/linkifier-pattern.ts";
import { LinkifierFinder, linkifierProblem } from "../../domain/markdown/linkifiers.ts";
import { seedOf } from "../support/seed.ts";

const seed = seedOf(t);
const urlTemplate = "https://a.example/{id}";
const issue = { pattern: "#(?P<id>[0-9]+)", urlTemplate };

/** The matches and their targets. */
function found(text: string, ...linkifiers: { pattern: string; urlTemplate: string }[]): [string, string][] {
  return new LinkifierFinder(linkifiers).find(text).map(({ start, end, href }) => [text.slice(start, end), href]);
}

t.test("patterns that the engine cannot run in linear time are rejected, usual ones are accepted", async (t) => {
  const problem = (pattern: string) => linkifierProblem({ pattern, urlTemplate });
  for (const bad of [
    "(?=a)a",
    "(?!a)b",
    "(?<=a)b",
    "(?<!a)b",
    "(a)\\1",
    "(?P=id)",
    "(",
    "[",
    "",
    "a)b",
    "a**",
    "(?>a)",
  ]) {
    t.equal(problem(bad), "pattern", bad);
  }
  for (const good of [
    "#(?P<id>[0-9]+)",
    "(?P<org>[a-zA-Z0-9_-]+)/(?P<repo>[a-zA-Z0-9_-]+)#(?P<id>[0-9]+)",
    "(?P<org>[\\w-]+)/(?P<repo>[\\w-]+)#(?P<id>\\d+)",
    "(?:JIRA|ABC)-(?P<id>\\d{1,6})",
    "\\#(?P<id>x\\-[)]*)",
    "(?P<id>[0-9a-f]{40})",
    "(?P<id>(a+)+)",
    "(?i)bug (?P<id>\\d+)",
    "(?<id>\\d+)",
    "(?P<id>\\pL+)",
  ]) {
    t.equal(problem(good), null, good);
  }
  t.equal(linkifierProblem({ pattern: "#(?P<id>[0-9]+)", urlTemplate: "https://a.example/{id" }), "template");
});

t.test(
  "matches are delimited by spaces and punctuation, follow the linkifiers' order, and never overlap",
  async (t) => {
    const one = (id: string) => [`#${id}`, `https://a.example/${id}`];
    t.strictSame(found("#1 #2,#3 (#4) x#5 #6x #7é #8.", issue), ["1", "2", "3", "4", "8"].map(one));
    t.strictSame(found("👩‍👩‍👧 #1 日本 #2", issue), ["1", "2"].map(one), "beyond the basic plane");
    t.strictSame(found("a\u00a0#1\u3000#2\u2028#3", issue), ["1", "2", "3"].map(one), "spaces of any script");
    t.strictSame(found("#1\n#2", issue), ["1", "2"].map(one));
    const longer = { pattern: "#(?P<id>[0-9]+)-x", urlTemplate: "https://b.example/{id}" };
    t.strictSame(
      found("#1-x", issue, longer),
      [["#1", "https://a.example/1"]],
      "the first linkifier in the order wins",
    );
    t.strictSame(found("#1-x", longer, issue), [["#1-x", "https://b.example/1"]]);
    const repo = {
      pattern: "(?P<org>[a-z]+)/(?P<repo>[a-z]+)#(?P<id>[0-9]+)",
      urlTemplate: "https://g/{org}/{repo}/{id}",
    };
    t.strictSame(found("a/b#1 and #2", issue, repo), [
      ["a/b#1", "https://g/a/b/1"],
      ["#2", "https://a.example/2"],
    ]);
    t.strictSame(found("é1 É2", { pattern: "é(?P<id>\\d)", urlTemplate }), [["é1", "https://a.example/1"]]);
    t.strictSame(found("BUG 7", { pattern: "(?i)bug (?P<id>\\d)", urlTemplate }), [["BUG 7", "https://a.example/7"]]);
  },
);

/** Pieces of patterns that both engines interpret alike. */
const piece = fc.constantFrom("a", "b", "#", "\\d", "[ab]", "[^a#]", ".", "(?:ab|a)", "(?:a|ab)", "-");
const quantifier = fc.constantFrom("", "", "", "+", "*", "?", "{2}", "{1,3}", "+?", "*?");
const harmless = fc
  .array(fc.tuple(piece, quantifier), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.map((part) => part.join("")).join(""))
  .chain((inner) =>
    fc.constantFrom(`(?P<id>${inner})`, `#(?P<id>${inner})`, `(?P<id>${inner})-b`, `(?P<id>a|${inner})b`),
  );
const subject = fc.string({ unit: fc.constantFrom(..."aabb##12-  (é日"), maxLength: 30 });

t.test("harmless patterns match what a backtracking engine matches (property)", async (t) => {
  const property = fc.property(harmless, subject, (pattern, text) => {
    const source = pattern.replaceAll("(?P<", "(?<");
    const before = "(?<![^\\s'\"(\\[,:<])";
    const regexp = new RegExp(`${before}(?:${source})(?![\\p{L}\\p{N}_])`, "gu");
    const expected = [...text.matchAll(regexp)].filter(([whole]) => whole !== "").map(([whole]) => whole);
    // After an empty match, and after one character at the very start, the two engines continue at different positions.
    fc.pre(![...text.matchAll(regexp)].some(({ 0: whole, index }) => index + whole.length <= 1));
    fc.pre(![...text.matchAll(regexp)].some(([whole]) => whole === ""));
    const seen = found(text, { pattern, urlTemplate }).map(([whole]) => whole);
    t.strictSame(seen, expected, `${pattern} in ${text}`);
  });
  fc.assert(property, { seed, numRuns: 2000 });
});

t.test("[S3] the text that a pattern requires is in all matches, its size not too small (property)", async (t) => {
  const property = fc.property(harmless, subject, (pattern, text) => {
    const { required, size } = measurePattern(pattern);
    const compiled = compileLinkifierPattern(pattern);
    if (compiled === null) return false;
    const isComplete = found(text, { pattern, urlTemplate }).every(([whole]) =>
      required.every((part) => whole.includes(part)),
    );
    return isComplete && compiled.size <= 4 * size + 20;
  });
  fc.assert(property, { seed, numRuns: 1000 });
  t.strictSame(measurePattern("(?P<a>[a-z]+)/(?:x#)?-{2}(?P<b>\\d|z)Q*").required, ["/", "-"]);
  t.strictSame(measurePattern("(?i)bug(?P<id>\\d)").required, [], "a letter may be another one");
  t.strictSame(measurePattern("[[:alpha:]]x[]a]y[^]b]").required, ["x", "y"]);
});

t.test("[S3] LINKIFIER_PROGRAM_STEPS_MAX, LINKIFIER_PATTERN_CHARS_MAX: at and over the size", async (t) => {
  const sizeOf = (count: number) => compileLinkifierPattern(`(?P<id>x{${count}})`)?.size ?? null;
  const margin = (sizeOf(100) ?? 0) - 100;
  t.equal(sizeOf(LINKIFIER_PROGRAM_STEPS_MAX - margin), LINKIFIER_PROGRAM_STEPS_MAX);
  t.equal(sizeOf(LINKIFIER_PROGRAM_STEPS_MAX - margin + 1), null);

  const classes = (length: number) => `(?P<id>[${"x".repeat(length - 10)}])`;

  t.equal(classes(LINKIFIER_PATTERN_CHARS_MAX).length, LINKIFIER_PATTERN_CHARS_MAX);
  t.ok(compileLinkifierPattern(classes(LINKIFIER_PATTERN_CHARS_MAX)));
  t.equal(compileLinkifierPattern(classes(LINKIFIER_PATTERN_CHARS_MAX + 1)), null);
});

t.test("[S3] nested repetitions are rejected before they are compiled", async (t) => {
  for (const pattern of [
    "(?P<id>(?:(?:x{1,99}){1,99}){1,99})y",
    `(?P<id>${"x{1000}".repeat(140)})`,
    "(?P<id>(?:(?:(?:x{9}){9}){9}){9})",
    "(?P<id>(?:x{30}y{30}){10})",
  ]) {
    t.ok(measurePattern(pattern).size > LINKIFIER_PROGRAM_STEPS_MAX, pattern.slice(0, 40));
    t.equal(compileLinkifierPattern(pattern), null);
  }
});

t.test("[S3] LINKIFIERS_PER_MESSAGE_MAX: at most that many match in one message, in their order", async (t) => {
  const many = Array.from({ length: LINKIFIERS_PER_MESSAGE_MAX + 1 }, (_, index) => ({
    pattern: `[a]${index}-(?P<id>\\d)`,
    urlTemplate,
  }));
  const last = LINKIFIERS_PER_MESSAGE_MAX;
  const seen = found(`0123456789 a${last - 1}-1 a${last}-2`, ...many).map(([text]) => text);
  t.strictSame(seen, [`a${last - 1}-1`]);
  t.strictSame(found("#1", ...many.map(({ pattern }) => ({ pattern: `@${pattern}`, urlTemplate })), issue).length, 1);
});

t.test(
  "[S3] LINKIFIER_STEPS_PER_MESSAGE_MAX, LINKIFIER_MATCHES_MAX, LINKIFIER_LINE_CHARS_MAX: more is text",
  async (t) => {
    const size = compileLinkifierPattern(issue.pattern)?.size ?? 0;
    // Each line costs the same, and is scanned whole before and after its match.
    const matchesIn = (count: number) => {
      const finder = new LinkifierFinder([issue]);
      return Array.from({ length: count }, (_, at) => finder.find(`${at} ${"x ".repeat(90)}#7`)).flat().length;
    };
    const fit = Math.floor(LINKIFIER_STEPS_PER_MESSAGE_MAX / (size * 190));
    t.equal(matchesIn(fit - 10), fit - 10, "within the bound");
    const over = matchesIn(3 * fit);
    t.ok(over < 1.2 * fit, `${over} of ${3 * fit} over the bound`);
    const many = Array.from({ length: LINKIFIER_MATCHES_MAX + 1 }, () => "#1").join("\n");
    t.equal(found(many, issue).length, LINKIFIER_MATCHES_MAX);
    const at = (end: number) => `${"x".repeat(end - 3)} #1`;
    t.equal(found(at(LINKIFIER_LINE_CHARS_MAX), issue).length, 1);
    t.equal(found(`${at(LINKIFIER_LINE_CHARS_MAX + 2)}`, issue).length, 0);
  },
);
