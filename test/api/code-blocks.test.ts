/** Code in messages is highlighted before they are stored, in a separate thread (behaviour 5.8). */
import { type DefaultTreeAdapterTypes, parseFragment } from "parse5";
import t from "tap";
import { escapeAttribute } from "../../domain/markdown/escape.ts";
import { highlightedLanguages } from "../../domain/markdown/highlighters.ts";
import { parseContent, resolveContent } from "../../domain/markdown/render.ts";
import { limits } from "../../schemas/limits.ts";
import { CodeHighlighter } from "../../src/operations/media/code-highlighter.ts";
import { OPTIONS, RESOLVER } from "../domain/markdown-support.ts";
import { startTestServer } from "../support/server.ts";

/** The short names of Pygments, as the clients' style sheets use them. */
const CLASSES = new Set(
  (
    "w err x k kc kd kn kp kr kt n na nb bp nc no nd ni ne nf fm nl nn nx py nt nv vc vg vi vm l ld s sa sb sc dl sd s2 se sh " +
    "si sx sr s1 ss m mb mf mh mi il mo o ow p pm c ch cm cpf c1 cs cp g gd ge gr gh gi go gp gs gu gt ges"
  ).split(" "),
);

type Parsed = DefaultTreeAdapterTypes.ChildNode;

/** The text that a browser shows. Throws for anything but spans with one known class. */
function textOf(fragment: string): string {
  const read = (node: Parsed): string => {
    if ("value" in node) return node.value;
    const attributes = "attrs" in node ? node.attrs : [];
    const isSpan = node.nodeName === "span" && attributes.length === 1 && attributes[0]?.name === "class";
    if (!isSpan || !CLASSES.has(attributes[0]?.value ?? ""))
      throw new Error(JSON.stringify([node.nodeName, attributes]));
    return "childNodes" in node ? node.childNodes.map(read).join("") : "";
  };
  return parseFragment(fragment).childNodes.map(read).join("");
}

const server = await startTestServer(t);
const { owner } = server;
const channelId = await owner.createChannel("code", [owner]);
const colored = '<code><span class="n">x</span> <span class="o">=</span> <span class="mi">1</span>\n</code>';
const source = "```py\nx = 1\n```";

const parse = (content: string) => parseContent(content, OPTIONS);
const htmlOf = (parsed: ReturnType<typeof parse>) => resolveContent(parsed, RESOLVER).html;

async function contentOf(id: number): Promise<string> {
  return (await owner.get(`/messages/${id}`)).body.message.content;
}

/** On a busy machine code may take too long and stay plain, which is no fault: it is shown again. */
async function shownWith(colors: string, show: (attempt: number) => Promise<string>): Promise<string> {
  let shown = await show(0);
  for (let attempt = 1; attempt < 100 && !shown.includes(colors); attempt++) shown = await show(attempt);
  return shown;
}

t.test("[behaviour 5.8] code is highlighted in messages that are sent, edited or only rendered", async (t) => {
  let id = 0;
  const sent = async () => {
    id = await owner.say(channelId, "t", source);
    return contentOf(id);
  };
  t.match(await shownWith(colored, sent), colored);
  const name = '<span class="n">y</span>';
  const edited = async (attempt: number) => {
    await owner.patch(`/messages/${id}`, { content: `\`\`\`py\ny = ${attempt}\n\`\`\`` });
    return contentOf(id);
  };
  t.match(await shownWith(name, edited), name);
  const rendered = async (): Promise<string> =>
    (await owner.post("/messages/render", { content: `> quoted\n\n${source}` })).body.rendered;
  t.match(await shownWith(colored, rendered), colored);
});

t.test("[M7] concurrent messages of one sender keep their order, with and without code", async (t) => {
  const sent = Array.from({ length: 12 }, (_, index) => (index % 3 === 0 ? source : `${index}`));
  const writer = new CodeHighlighter();
  const order: string[] = [];
  await Promise.all(
    sent.map((content) =>
      writer.whenHighlighted(parse(content), "w", () => {
        order.push(content);
      }),
    ),
  );
  t.strictSame(order, sent);
  t.equal(
    writer.whenHighlighted(parse("plain"), "other", () => "at once"),
    "at once",
  );
});

/** A seeded pseudo-random number generator. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

t.test("[behaviour 5.8] highlighting keeps the text of the code in every language, whatever the code", async (t) => {
  const next = numbers(19);
  const words = "if def class end begin /* */ <!-- --> <a b='c'> #{y} `x` 0x1F 1e5 -- // ''' \"\"\" {% %} <?php";
  const pieces = [
    ..."abz019_ \t\n()[]{}<>\"'`/\\*+-=|&%$#@!?.,;:~^é\u2028\u{1f600}",
    ...words.split(" "),
    "<<EOF\nEOF\n",
  ];
  const writer = new CodeHighlighter();
  for (const language of highlightedLanguages()) {
    const codes = Array.from({ length: 4 }, () =>
      Array.from({ length: 40 }, () => pieces[next(pieces.length)] ?? "").join(""),
    );
    const blocks = codes.map((code) => ({ kind: "code", code, language, typed: escapeAttribute(code) }) as const);
    const html = await writer.whenHighlighted({ ...parse("x"), pieces: blocks }, "w", ({ pieces: shown }) => shown);
    const found = html.map((piece) => textOf(String(piece)));
    t.strictSame(found, codes, language);
  }
});

/** Tabs, in which one tokenizer searches for the end of a key in more than cubic time: minutes. */
const hostile = `\`\`\`yaml\n${`${"\t".repeat(450)}\n`.repeat(20)}x\n\`\`\``;

t.test("[S3] code that takes too long to highlight is shown as plain text and delays others briefly", async (t) => {
  const writer = new CodeHighlighter();
  await writer.whenHighlighted(parse(source), "first", () => undefined);
  const slow = writer.whenHighlighted(parse(hostile), "slow", htmlOf);
  const behind = writer.whenHighlighted(parse(source), "behind", htmlOf);
  t.notMatch(await slow, '<span class="', "no highlighting, and no wait of minutes");
  t.equal((await behind).replaceAll(/<[^>]*>/g, ""), "x = 1\n");
  const again = async () => writer.whenHighlighted(parse(source), "behind", htmlOf);
  t.match(await shownWith(colored, again), colored, "a new thread is started");
});

t.test("[S3] code_highlight_waiting_max: with more waiting messages, their code is shown as plain text", async (t) => {
  // On a busy machine a block could take longer than the ordinary time, and would stay plain for that reason.
  const writer = new CodeHighlighter(60_000);
  const count = limits.code_highlight_waiting_max;
  const all = await Promise.all(
    Array.from({ length: count + 1 }, (_, index) => writer.whenHighlighted(parse(source), `w${index}`, htmlOf)),
  );
  const found = all.map((html) => html.includes('class="mi"'));
  t.strictSame(
    found,
    Array.from({ length: count + 1 }, (_, index) => index < count),
  );
});

t.test("[S3] if no thread can be started, code is shown as plain text and messages are processed", async (t) => {
  const writer = new CodeHighlighter(limits.code_highlight_ms_max, () => {
    throw new Error("EAGAIN");
  });
  const shown = await writer.whenHighlighted(parse(source), "w", htmlOf);
  t.notMatch(shown, '<span class="', "no colors");
  t.equal(await writer.whenHighlighted(parse("plain"), "w", () => "goes on"), "goes on");
});
