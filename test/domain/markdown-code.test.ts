/**
 * Highlighted code: the text is unchanged, classes are those for which clients have a colour, and the cost is bounded.
 */
import t from "tap";
import {
  CODE_CHARS_PER_MESSAGE_MAX,
  CODE_LINE_CHARS_MAX,
  CODE_SPANS_PER_MESSAGE_MAX,
} from "../../domain/markdown/bounds.ts";
import { CodeAllowance, highlightCode } from "../../domain/markdown/highlight.ts";
import { highlightedLanguages, highlighterOf } from "../../domain/markdown/highlighters.ts";
import { knownLanguage, languageInCode, languageName } from "../../domain/markdown/html-renderer.ts";
import { LANGUAGE_NAMES } from "../../domain/markdown/language-names.ts";
import { html } from "./markdown-support.ts";

const shown = (code: string, word: string): string => highlightCode(code, knownLanguage(word), new CodeAllowance());

t.test("[behaviour 5.8] highlighted code has the classes of the clients' style sheets", async (t) => {
  t.equal(
    shown("def speak(self):\n    x = 1", "python"),
    '<span class="k">def</span> <span class="nf">speak</span><span class="p">(</span><span class="bp">self</span>' +
      '<span class="p">):</span>\n    <span class="n">x</span> <span class="o">=</span> <span class="mi">1</span>',
  );
  t.equal(
    shown("// x\na = 'b' + 1.5;", "js"),
    '<span class="c1">// x</span>\n<span class="n">a</span> <span class="o">=</span> ' +
      '<span class="s1">&#39;b&#39;</span> <span class="o">+</span> <span class="mf">1.5</span><span class="p">;</span>',
  );
  t.equal(shown("+a\n-b\n c", "diff"), '<span class="gi">+a</span>\n<span class="gd">-b</span>\n c');
  t.equal(
    shown("\\pi \\textbf{ is not } 3.14", "latex"),
    '<span class="k">\\pi</span> <span class="k">\\textbf</span><span class="nb">{</span> is not <span class="nb">}</span> 3.14',
  );
  t.equal(shown("x = <1>", "inventedlanguage"), "x = &lt;1&gt;");
});

t.test("[behaviour 5.8] a language has the name that clients look up, and a code block may name its own", async (t) => {
  for (const [word, name] of Object.entries({
    py: "Python",
    py2: "Python 2.x",
    "css+php": "CSS+PHP",
    "C++": "C++",
    postgresql: "PostgreSQL SQL dialect",
    nothing: "nothing",
  })) {
    t.equal(languageName(word), name, word);
  }
  t.equal(LANGUAGE_NAMES.split("|").length, 600);
  for (const [code, name] of [
    ["#!python\nx", "Python"],
    ["#!/usr/bin/python\nx", "Python"],
    [":::python\nx", "Python"],
    ["#!/usr/bin/env python\nx", "Python"],
    ["#!/usr/bin/env nothing\nx", null],
    ["python\nx", null],
    ["#!", null],
    ["", null],
  ] as const) {
    t.equal(languageInCode(code), name, code);
  }
});

t.test("[behaviour 5.8] every tokenizer belongs to a named language and can be loaded", async (t) => {
  const names = new Set(LANGUAGE_NAMES.split("|").map((entry) => entry.trim().split(" = ")[0]));
  const languages = [...highlightedLanguages()];
  t.ok(languages.length > 90, `${languages.length}`);
  for (const language of languages) {
    t.ok(names.has(language), language);
    t.ok(highlighterOf(language) !== null, language);
    const samples = 'x = 1\n"y" (z)\n+a\n<b>\nkey: 1\n.B c\n{% if d %}\nFeature: e\nGET /f HTTP/1.1';
    t.match(highlightCode(samples, language, new CodeAllowance()), '<span class="', `${language} is colored`);
  }
});

t.test("[S3] highlighting is bounded in characters of a message and of a line, and in spans", async (t) => {
  const isPlain = (code: string) => highlightCode(code, "Python", new CodeAllowance()) === code;
  const lines = (count: number) => "x\n".repeat(count);
  t.notOk(isPlain("x".repeat(CODE_LINE_CHARS_MAX)));
  t.ok(isPlain("x".repeat(CODE_LINE_CHARS_MAX + 1)));
  t.notOk(isPlain(lines(CODE_SPANS_PER_MESSAGE_MAX)));
  t.ok(isPlain(lines(CODE_SPANS_PER_MESSAGE_MAX + 1)));
  const long = `${"#".repeat(99)}\n`.repeat(CODE_CHARS_PER_MESSAGE_MAX / 100);
  t.notOk(isPlain(long));
  t.ok(isPlain(`${long}x`));
  const allowance = new CodeAllowance();
  t.not(highlightCode(long, "Python", allowance), long);
  t.equal(highlightCode("x", "Python", allowance), "x", "all blocks of a message share the bound");
});

t.test("[behaviour 5.8] parsing alone loads no tokenizer, and the code is shown as typed", async (t) => {
  t.equal(
    html("```py\n<x>\n```"),
    '<div class="codehilite" data-code-language="Python"><pre><span></span><code>&lt;x&gt;\n</code></pre></div>',
  );
});
