// Where links may lead, and where bare URLs are in a text. Schemes are an allowlist; file names that look like host
// names ("readme.md", "views.py") are ignored. The scanner is hand-written and linear: it starts only after white space
// or an opening character, and visits each position once.
import { BARE_LINK_PARENTHESES_MAX } from "./bounds.ts";

export interface LinkSpan {
  readonly start: number;
  readonly end: number;
  readonly href: string;
}

const SAFE_SCHEMES = new Set(
  (
    "http https ftp ftps sftp mailto tel sms xmpp irc ircs ssh git news nntp file bitcoin magnet geo webcal sip sips " +
    "matrix zulip callto facetime svn smb nfs rtsp urn doi"
  ).split(" "),
);
const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
// With these schemes a URL without a host is invalid.
const WEB_WITHOUT_HOST = /^(?:https?|ftps?|sftp):(?!\/\/[^/?#])/i;
const PORT_AT = /:\d{1,5}(?!\d)/y;
// Control characters, all kinds of spaces, and invisible characters that could disguise a URL.
const UNSAFE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}]/u;

const GENERIC_DOMAINS =
  "com org net edu gov mil int info biz name pro aero asia cat coop jobs mobi museum post tel travel xxx app dev " +
  "cloud online site tech store shop blog page chat social network live news media digital agency world space life " +
  "email group team work works today solutions services systems software technology company computer design studio " +
  "academy education school university community foundation ngo ong science health care clinic fun games zone wiki xyz " +
  "top club vip icu link click art film music video photos gallery bank money finance fund capital ventures partners " +
  "legal law global international earth eco energy farm food cafe restaurant pizza house homes land estate city town " +
  "london berlin paris tokyo nyc amsterdam africa google youtube microsoft amazon apple zulip arpa test";
const COUNTRY_DOMAINS =
  "ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca cc cd cf " +
  "cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gd ge gf gg " +
  "gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn " +
  "kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc " +
  "ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw qa re ro rs ru rw sa sb sc sd se sg sh si sk " +
  "sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi " +
  "vn vu wf ws ye yt za zm zw рф";
// Without md and py, which are file extensions in chat.
const TOP_LEVEL_DOMAINS = new Set(`${GENERIC_DOMAINS} ${COUNTRY_DOMAINS}`.split(" "));

const WORD = /\S+/g;
const OPENING = new Set("'\"(,:<>[{*~|");
const TRAILING = new Set("!:;?,.'*~");
const END_OF_WORD = /[!:;?),.'">]*(?!\S)/y;
const SCHEME_AT = /https?:\/\/(?=[\p{L}\p{N}[_])/iuy;
const EMAIL_AT = /[a-z0-9._%+-]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,10}(?![a-z0-9@_/-])/iy;
const DOMAIN_AT = /(?:[\p{L}\p{N}][\p{L}\p{N}-]{0,62}\.){1,10}(\p{L}{2,18})(?![\p{L}\p{N}@_-])/uy;

/** The URL for `href`, or null if a link must not lead there. The caller escapes it. */
export function safeHref(address: string, realmUrl: string | null): string | null {
  const url = address.trim();
  if (url === "" || UNSAFE_CHARACTERS.test(url)) return null;
  const href = hrefOf(url, realmUrl);
  return href === null || WEB_WITHOUT_HOST.test(href) ? null : href;
}

function hrefOf(url: string, realmUrl: string | null): string | null {
  if (url.startsWith("#")) return url;
  if (url.startsWith("/")) return /^\/[/\\]/.test(url) ? `http:${url.replaceAll("\\", "/")}` : url;
  const scheme = SCHEME.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) return url.includes("@") && !url.includes("/") ? `mailto:${url}` : `http://${url}`;
  // "localhost:9991/x" and "example.com:80" are hosts with a port, not schemes.
  if (scheme.includes(".") || scheme === "localhost") return `http://${url}`;
  return SAFE_SCHEMES.has(scheme) ? withinRealm(url, realmUrl) : null;
}

/** Bare URLs and email addresses in a text, in order and without overlaps. */
export function findLinks(text: string, realmUrl: string | null): LinkSpan[] {
  const spans: LinkSpan[] = [];
  for (const match of text.matchAll(WORD)) {
    const word = match[0];
    if (word.includes(".") || word.includes("://"))
      findLinksInWord(text, match.index, match.index + word.length, spans);
  }
  return realmUrl === null ? spans : spans.map((span) => ({ ...span, href: withinRealm(span.href, realmUrl) }));
}

function findLinksInWord(text: string, wordStart: number, wordEnd: number, spans: LinkSpan[]): void {
  let position = wordStart;
  while (position < wordEnd) {
    const span = linkAt(text, position, wordEnd);
    if (span !== null) {
      spans.push(span);
      position = span.end;
    }
    while (position < wordEnd && !OPENING.has(text.charAt(position))) position++;
    position++;
  }
}

function linkAt(text: string, start: number, wordEnd: number): LinkSpan | null {
  if (matchEnd(SCHEME_AT, text, start) !== -1) {
    const end = endOfAddress(text, start, wordEnd);
    return end - start > "https://".length - 1 ? { start, end, href: text.slice(start, end) } : null;
  }
  const mailEnd = matchEnd(EMAIL_AT, text, start);
  if (mailEnd !== -1) {
    const end = text.charAt(mailEnd - 1) === "-" ? mailEnd - 1 : mailEnd;
    return { start, end, href: `mailto:${text.slice(start, end)}` };
  }
  DOMAIN_AT.lastIndex = start;
  const domain = DOMAIN_AT.exec(text);
  if (domain === null || !TOP_LEVEL_DOMAINS.has(domain[1]?.toLowerCase() ?? "")) return null;
  const domainEnd = start + domain[0].length;
  const portEnd = matchEnd(PORT_AT, text, domainEnd);
  const hostEnd = portEnd === -1 ? domainEnd : portEnd;
  const end = '/?#"'.includes(text.charAt(hostEnd) || " ") ? endOfAddress(text, start, wordEnd) : hostEnd;
  if (end === start) return null;
  return { start, end, href: `http://${text.slice(start, end)}` };
}

/**
 * A URL ends before unbalanced brackets, markup and closing punctuation.
 * @returns `start` if it is no URL: its brackets nest too deep, or a quotation mark right after it does not end a word
 */
function endOfAddress(text: string, start: number, wordEnd: number): number {
  let end = start;
  let parentheses = 0;
  let brackets = 0;
  for (; end < wordEnd; end++) {
    const character = text.charAt(end);
    if ('<>"`|\\^{}'.includes(character)) break;
    if ((character === "*" || character === "~") && text.charAt(end + 1) === character) break;
    if (character === "(" && ++parentheses > BARE_LINK_PARENTHESES_MAX) return start;
    if (character === ")" && --parentheses < 0) break;
    if (character === "[") brackets++;
    if (character === "]" && --brackets < 0) break;
  }
  const closed = text.charAt(end) === '"' ? end : -1;
  while (end > start && TRAILING.has(text.charAt(end - 1))) end--;
  return closed === -1 || matchEnd(END_OF_WORD, text, closed) !== -1 ? end : start;
}

function matchEnd(pattern: RegExp, text: string, position: number): number {
  pattern.lastIndex = position;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/** Links into the own realm become relative, so that they work under whatever name the client uses. */
function withinRealm(href: string, realmUrl: string | null): string {
  if (realmUrl === null || !href.startsWith(`${realmUrl}/`)) return href;
  const path = href.slice(realmUrl.length);
  if (path.startsWith("/#")) return path.slice(1);
  return path.startsWith("/user_uploads/") ? path : href;
}
