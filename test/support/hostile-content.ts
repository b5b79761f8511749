/** Random message texts of parts that could break out of the markup, for the renderer and for the page that shows them. */
import fc from "fast-check";

const charactersMax = 10_000;

const hostileWord = fc.oneof(
  fc.constantFrom(
    ..."<script>alert(1)</script>|<img src=x onerror=alert(1)>|</p>|<!--|-->|javascript:alert(1)|[x](javascript:alert(1))".split(
      "|",
    ),
    ...'[x](JaVaScRiPt:alert(1))|[x](data:text/html,a)|[x](vbscript:a)|[x](//evil.example)|[x](/\\evil.example)|[a](b "onmouseover=1)'.split(
      "|",
    ),
    ...'[a](http://x.com" onclick="1)|http://x.com/"onclick=1|<http://x.com>|[](<javascript:1>)|[x](<a b>)|&lt;script&gt;|&#60;b&#62;'.split(
      "|",
    ),
    ..."&quot;|\"><b>|'><b>|`<b>`|$$<b>$$|$$\\href{javascript:1}{a}$$|$$\\htmlClass{a}{b}$$|$$\\color{red;x:url(1)}{a}$$|$$\\sqrt{a}$$".split(
      "|",
    ),
    ...'<time:<b>>|<time:2020-01-01>|@**Example User**|@**Zoe <b>**|@**<b>**|@*support*|@_**all**|#**announce><b>"**'.split(
      "|",
    ),
    ...'#**a & b (100%)>x**|:smile:|:<b>:|:"onclick=1:|💩|```python\n|```"><b>\n|```quote\n|```spoiler <b>\n|```math\n|~~~\n'.split(
      "|",
    ),
    "> ",
    "* ",
    "1. ",
    "9. ",
    "# ",
    "    ",
    "\n",
    "\n\n",
    "| a | b |\n| :- | -: |\n| <b> | `|` |\n",
    "**",
    "*",
    "~~",
    "__",
    "---\n",
    "#12",
    "js:alert(1)",
    ":) ",
    "<3 ",
    "\u0000",
    "\u202e",
    "\ud800",
    "\u200d",
    "1️⃣",
    "\t",
    "\\",
    "[",
    "](",
    ")",
    "]",
    "(",
    "`",
    "$",
    "$$",
    "$$ {",
    "}",
  ),
  fc.string({ maxLength: 8 }),
);
/** Messages that try to do what messages must not. */
export const hostileText = fc
  .array(hostileWord, { maxLength: 40 })
  .map((words) => words.join("").slice(0, charactersMax));
