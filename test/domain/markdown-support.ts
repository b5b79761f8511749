// Shared by the Markdown tests: a small realm to resolve names in, a one-call renderer, and the set of elements and
// attributes that rendered messages may contain, checked with a real HTML parser.
import { type DefaultTreeAdapterTypes, parseFragment } from "parse5";
import {
  type ParseOptions,
  parseContent,
  type RenderedContent,
  type Resolver,
  resolveContent,
} from "../../domain/markdown/render.ts";

export const OPTIONS: ParseOptions = { linkifiers: [], translateEmoticons: false, realmUrl: "http://zulip.testserver" };

const USERS = [
  { id: 31, fullName: "Example User", isActive: true },
  { id: 32, fullName: "Zoe <b>", isActive: true },
];
const GROUPS = [
  { id: 17, name: "support", displayName: "support", mentionable: true },
  { id: 5, name: "role:administrators", displayName: "Administrators", mentionable: true },
  { id: 18, name: "leads", displayName: "leads", mentionable: false },
];
const CHANNELS = [
  { id: 9, name: "announce" },
  { id: 10, name: "a & b (100%)" },
];

export const RESOLVER: Resolver = {
  user: (name, id) =>
    USERS.find((user) => (name === null || user.fullName === name) && (id === null || user.id === id)) ?? null,
  group: (name) => GROUPS.find((group) => group.name === name) ?? null,
  channel: (name) => CHANNELS.find((channel) => channel.name === name) ?? null,
  topicLatestMessageId: (_channelId, topic) => (topic === "quiet" ? null : 214),
  realmEmoji: (name) =>
    name === "example_custom_emoji" ? { name, url: "/user_avatars/2/emoji/images/dbe43627.png" } : null,
  uploadedImage: (path) =>
    path === "p/x.png"
      ? {
          shownUrl: "/user_uploads/thumbnail/p/x.png/840x560.webp",
          widthPx: 1920,
          heightPx: 1080,
          contentType: "image/png",
          isAnimated: false,
        }
      : null,
  uploadedVideo: (path) => (path === "p/x.mp4" ? "/user_uploads/p/x.mp4" : null),
  emptyTopicDisplayName: "general chat",
};

export function render(content: string, options: Partial<ParseOptions> = {}): RenderedContent {
  return resolveContent(parseContent(content, { ...OPTIONS, ...options }), RESOLVER);
}

export function html(content: string, options: Partial<ParseOptions> = {}): string {
  return render(content, options).html;
}

const MATHML =
  "math semantics annotation mrow mi mo mn mtext mspace msup msub msubsup mfrac msqrt mroot mover munder munderover mtable mtr mtd mstyle mpadded mphantom menclose mglyph mlabeledtr";
const ELEMENTS = new Set(
  `p h1 h2 h3 h4 h5 h6 blockquote ul ol li table thead tbody tr th td hr br div pre code span a img video em strong del time svg path line ${MATHML}`.split(
    " ",
  ),
);
const ATTRIBUTES = new Set(
  "class href title alt src role aria-label aria-hidden style start datetime data-user-id data-user-group-id data-stream-id data-code-language data-original-dimensions data-original-content-type data-animated preload encoding xmlns display mathvariant stretchy fence lspace rspace separator accent accentunder width height depth voffset minsize maxsize movablelimits linethickness columnalign columnspacing rowspacing columnlines rowlines scriptlevel displaystyle viewBox preserveAspectRatio d mathcolor mathbackground mathsize notation x1 x2 y1 y2 stroke-width symmetric form side".split(
    " ",
  ),
);
/** An attribute of one element, with the only value that it may have: a line break (`\\`) in a formula. */
const isLineBreak = (tagName: string, name: string, value: string): boolean =>
  tagName === "mspace" && name === "linebreak" && value === "newline";
const VOID_ELEMENTS = new Set(["br", "hr", "img"]);
const BLOCK_ELEMENTS = new Set("p h1 h2 h3 h4 h5 h6 blockquote ul ol table div pre hr".split(" "));
const HREF =
  /^(?:https?|ftps?|sftp|mailto|tel|sms|xmpp|ircs?|ssh|git|news|nntp|file|bitcoin|magnet|geo|webcal|sips?|matrix|zulip|callto|facetime|svn|smb|nfs|rtsp|urn|doi):|^\/(?![/\\])|^#/i;
const STYLE = /^(?:[a-z-]+:\s?[-#a-z0-9. ]+;\s?)+$/i;

/** The parts of the HTML, as a browser sees it, that no message may contain; empty if there are none. */
export function forbiddenParts(source: string): string[] {
  const found: string[] = [];
  const visit = (node: DefaultTreeAdapterTypes.Node): void => {
    if (node.nodeName === "#comment") found.push("comment");
    if ("tagName" in node) found.push(...forbiddenInElement(node));
    if ("childNodes" in node) for (const child of node.childNodes) visit(child);
  };
  visit(parseFragment(source, { onParseError: (error) => found.push(`parse error ${error.code}`) }));
  return found.concat(misnestedTags(source));
}

/** Tags that a browser would move or close by itself, so that its tree differs from the intended one. */
function misnestedTags(source: string): string[] {
  const found: string[] = [];
  const open: string[] = [];
  for (const [, slash, tag = "", selfClosing] of source.matchAll(/<(\/?)([a-zA-Z0-9]+)[^>]*?(\/?)>/g)) {
    if (slash === "/") {
      if (open.pop() !== tag) found.push(`stray </${tag}>`);
      continue;
    }
    if (open.includes("p") && BLOCK_ELEMENTS.has(tag)) found.push(`<${tag}> inside <p>`);
    if (tag === "a" && open.includes("a")) found.push("<a> inside <a>");
    if (selfClosing !== "/" && !VOID_ELEMENTS.has(tag)) open.push(tag);
  }
  return found.concat(open.map((tag) => `unclosed <${tag}>`));
}

function forbiddenInElement(element: DefaultTreeAdapterTypes.Element): string[] {
  const found = ELEMENTS.has(element.tagName) ? [] : [`element ${element.tagName}`];
  for (const { name, value } of element.attrs) {
    if (!ATTRIBUTES.has(name) && !isLineBreak(element.tagName, name, value)) found.push(`attribute ${name}`);
    if ((name === "href" || name === "src") && !HREF.test(value)) found.push(`address ${value}`);
    if (name === "style" && !STYLE.test(value)) found.push(`style ${value}`);
  }
  return found;
}

export const CONTENT_CHARS_MAX = 10_000;

/** A message of the maximum length by default. */
export const fill = (unit: string, characters = CONTENT_CHARS_MAX): string =>
  unit.repeat(Math.ceil(characters / unit.length)).slice(0, characters);

/** Ordinary text at full length, with which hostile messages are compared. */
export const ordinary = fill(
  "Some **bold** words, a [link](https://example.com/page), `code` and :smile: for @**anna**.\n\n* one\n* two\n\n",
);

/** Thousands of brackets, stars and quote marks, and deep nesting. */
export const hostileTexts: readonly string[] = [
  ...["[", "*", ">", "]", "> ", "[[", "*a **b "].map((unit) => fill(unit)),
  Array.from({ length: 100 }, (_, depth) => `${"  ".repeat(depth)}* a`).join("\n"),
  Array.from({ length: 300 }, (_, depth) => `${"`".repeat(303 - depth)}quote`)
    .join("\n")
    .slice(0, CONTENT_CHARS_MAX),
  ...["- -\n", "* *a*\n", "☺", "*a* ", ">\n", "* a\n\n1. b\n\n", "a|b\n-|-\n", "a|\n-|\n\n", "# a\nb|c\n-|-\n"].map(
    (unit) => fill(unit),
  ),
  fill(`|${"|".repeat(44)}\n|${"-|".repeat(44)}\n${"|\n".repeat(40)}\n`),
  fill(`a|b\n-|-\n${"|\n".repeat(900)}\n`),
  ...["`a|b`\n-|-\n", "`|`", "`a|b` | c\n-|-\n"].map((unit) => fill(unit)),
  `$$${"\u00e9".repeat(1_990)}$$`,
  `$$\\begin{matrix}${"a&".repeat(900)}\\end{matrix}$$`,
  `$$${"x^2".repeat(660)}$$`,
];

/** Pieces of syntax that start something, or look like it. */
export const repeatedUnits: readonly string[] = [
  ...["`", "``a`", "~~a", "**a ", "[a](", "[](", "[a](<", '[a](b "', "![a](", "[x](http://a/(", "<time:", "$$a"],
  ...["@**a", "#**", ":a", "1️⃣", "|\n", "a|b\n-|-\n", ">\n", "> a\n", "```quote\n", "````quote\n```quote\n"],
  ...["* a\n  ", "# ", "&", "http://a(", "a.b.c.", "a@", "- - ", " ", "#1,", "*_", "[*`", "> 1. > ", "**a:", "*（"],
];
