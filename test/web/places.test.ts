/** Places and their addresses, search terms, completion: pure parts of the page. */
import fc from "fast-check";
import t from "tap";
import { best, startedAt } from "../../packages/web/src/compose/completion.ts";
import { fenced, openFences } from "../../packages/web/src/compose/fences.ts";
import {
  channelReference,
  channelStart,
  mentionOf,
  topicReference,
} from "../../packages/web/src/compose/references.ts";
import {
  addressOf,
  directNarrow,
  isConversation,
  matcherFor,
  narrow,
  narrowKey,
  placeOf,
  type Reader,
  type Term,
  topicNarrow,
  withMessage,
} from "../../packages/web/src/state/narrow.ts";
import { type Names, termsOfText, textOfTerms } from "../../packages/web/src/state/search.ts";
import { suggestionsFor } from "../../packages/web/src/state/suggestions.ts";
import { widgetOf } from "../../packages/web/src/state/widget.ts";
import { html } from "../domain/markdown-support.ts";
import { seedOf } from "../support/seed.ts";

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 });
const id = fc.integer({ min: 1, max: 1_000_000 });
const term: fc.Arbitrary<Term> = fc.oneof(
  fc.record({ operator: fc.constant("channel"), operand: id }),
  fc.record({ operator: fc.constant("topic"), operand: text }),
  fc.record({ operator: fc.constant("dm"), operand: fc.uniqueArray(id, { minLength: 1, maxLength: 5 }) }),
  fc.record({ operator: fc.constantFrom("sender", "dm-including"), operand: id }),
  fc.record({ operator: fc.constant("is"), operand: fc.constantFrom("starred", "mentioned") }),
  fc.record({ operator: fc.constant("search"), operand: text }),
);

t.test("the address of a place leads back to it, whatever its topic is called", (t) => {
  fc.assert(
    fc.property(fc.array(term, { minLength: 1, maxLength: 4 }), fc.option(id), (terms, near) => {
      const place = narrow(terms, near);
      const address = addressOf(place, () => "any name (1)/2");
      t.match(address, /^#narrow\/[^\s"<>]*$/);
      const again = placeOf(address);
      if (again?.kind !== "narrow") throw new Error(address);
      if (narrowKey(again.terms) !== narrowKey(terms) || again.near !== near) throw new Error(address);
    }),
    { seed: seedOf(t) },
  );
  t.strictSame(placeOf("#narrow/stream/5-kitchen/topic/lunch.20time/near/7"), topicNarrow(5, "lunch time", 7));
  t.strictSame(placeOf("#narrow/pm-with/3,4-group"), directNarrow([3, 4]), "older links lead there, too");
  const from = (operand: string | number) => narrow([{ operator: "sender", operand }]);
  t.strictSame(placeOf("#narrow/sender/3-Mei-Lin"), from(3), "a person by id");
  t.strictSame(placeOf("#narrow/sender/3-mei@example.com"), from("3-mei@example.com"), "a person by address");
  t.strictSame(
    placeOf("#narrow/channel/5-kitchen/topic/with/7"),
    withMessage(topicNarrow(5, ""), 7),
    "the empty topic",
  );
  t.strictSame(placeOf("#narrow/channel/5-kitchen/topic/with/with/7"), withMessage(topicNarrow(5, "with"), 7));
  t.equal(placeOf("#no-such-place"), null);
  t.end();
});

const reader: Reader = { userId: 1, isChannelMuted: () => false, isTopicMuted: () => false };

t.test("a topic and a direct conversation are conversations, a filter is not", (t) => {
  t.ok(isConversation(topicNarrow(1, "a").terms));
  t.ok(isConversation(directNarrow([2]).terms));
  t.notOk(isConversation([{ operator: "channel", operand: 1 }]));
  t.notOk(isConversation([{ operator: "is", operand: "starred" }]));
  t.equal(matcherFor([{ operator: "search", operand: "x" }], reader), null, "only the server can tell");
  t.end();
});

const users = [
  { user_id: 2, full_name: "Mei Lin" },
  { user_id: 3, full_name: "Jonas Falk" },
];
const channels = [
  { stream_id: 7, name: "design review" },
  { stream_id: 8, name: "kitchen" },
];
/** The empty topic has a name for people. */
const topicLabel = (topic: string) => (topic === "" ? "general chat" : topic);
const topicNamed = (name: string) => (name === "general chat" ? "" : name);
const names: Names = {
  ...{ topicLabel, topicNamed },
  users,
  channels,
  nameOfUser: (userId) => users.find((one) => one.user_id === userId)?.full_name,
  nameOfChannel: (channelId) => channels.find((one) => one.stream_id === channelId)?.name,
  topicsOf: () => ["lunch", "soup of the day", ""],
};

t.test("a search text becomes terms, and terms become the same text", (t) => {
  const typed = 'channel:"design review" topic:lunch -sender:"Mei Lin" hot soup';
  const terms = termsOfText(typed, names);
  t.strictSame(terms, [
    { operator: "channel", operand: 7 },
    { operator: "topic", operand: "lunch" },
    { operator: "sender", operand: 2, negated: true },
    { operator: "search", operand: "hot soup" },
  ]);
  t.equal(textOfTerms(terms, names), typed);
  t.strictSame(termsOfText('dm:"Mei Lin,Jonas Falk"', names), [{ operator: "dm", operand: [2, 3] }]);
  t.strictSame(termsOfText("unknown:word", names), [{ operator: "search", operand: "unknown:word" }]);
  const offered = (query: string) => suggestionsFor(query, names).map((one) => one.text);
  t.ok(offered("sen").includes("sender:"));
  t.ok(offered("is:st").includes("is:starred"));
  t.ok(offered("channel:kitchen topic:so").includes('channel:kitchen topic:"soup of the day"'));
  fc.assert(
    fc.property(fc.string(), (any) => {
      suggestionsFor(any, names);
      termsOfText(any, names);
    }),
    { seed: seedOf(t) },
  );
  t.end();
});

t.test("the search box knows the operators of the server, and says which ones are none", (t) => {
  const known: readonly (readonly [string, readonly Term[]])[] = [
    ["id:7", [{ operator: "id", operand: 7 }]],
    ["id:seven", [{ operator: "id", operand: "seven" }]],
    ["near:7", [{ operator: "near", operand: "7" }]],
    ["in:home", [{ operator: "in", operand: "home" }]],
    ["streams:public", [{ operator: "channels", operand: "public" }]],
    ["subject:lunch", [{ operator: "topic", operand: "lunch" }]],
    ["-FROM:3", [{ operator: "sender", operand: 3, negated: true }]],
    ["pm_with:3", [{ operator: "dm", operand: [3] }]],
    ["group_pm_with:3", [{ operator: "group-pm-with", operand: 3 }]],
  ];
  for (const [typed, terms] of known) t.strictSame(termsOfText(typed, names), terms, typed);
  for (const [typed, terms] of known.filter(([text]) => text !== "near:7"))
    t.strictSame(placeOf(addressOf(narrow(terms))), narrow(terms), `the address of ${typed}`);
  const near = narrow(termsOfText("channel:kitchen near:7", names));
  t.strictSame(placeOf(addressOf(near)), narrow([{ operator: "channel", operand: 8 }], 7));
  const older = "#narrow/streams/public/subject/lunch/from/3";
  t.strictSame(placeOf(older), narrow(termsOfText("channels:public topic:lunch sender:3", names)), "older links, too");
  const note = (query: string) => suggestionsFor(query, names).map((one) => one.note)[0];
  t.equal(note("soup date:today"), "search these words: there is no operator date");
  for (const words of ["10:30", "https://example.com", "std::map", "Re: soup", "toString:", '"date:today"'])
    t.equal(note(words), "search messages", words);
  t.end();
});

t.test("a search in the empty topic stays in it", (t) => {
  const terms: readonly Term[] = [
    { operator: "channel", operand: 8 },
    { operator: "topic", operand: "" },
  ];
  const shown = textOfTerms(terms, names);
  t.equal(shown, 'channel:kitchen topic:"general chat"');
  t.strictSame(termsOfText(`${shown} soup`, names), [...terms, { operator: "search", operand: "soup" }]);
  const offered = suggestionsFor("channel:kitchen topic:gen", names).map((one) => one.text);
  t.strictSame(offered, [shown], "it is found by its name");
  t.strictSame(termsOfText("channel:kitchen topic: soup", names), [
    { operator: "channel", operand: 8 },
    { operator: "search", operand: "soup" },
  ]);
  t.end();
});

const namesakes = [
  { user_id: 4, full_name: "Smith, John" },
  { user_id: 5, full_name: "Kim Lee" },
  { user_id: 6, full_name: "kim lee" },
];
const crowd: Names = {
  ...{ topicLabel, topicNamed },
  users: [...users, ...namesakes],
  channels: [{ stream_id: 9, name: 'say "hi"' }],
  nameOfUser: (userId) => [...users, ...namesakes].find((one) => one.user_id === userId)?.full_name,
  nameOfChannel: (channelId) => (channelId === 9 ? 'say "hi"' : undefined),
  topicsOf: () => ['the "end"'],
};

t.test("a search names people and channels with commas, quotes and blanks, and each of two namesakes", (t) => {
  const written: readonly (readonly [string, readonly Term[]])[] = [
    ['dm-including:"Mei Lin"', [{ operator: "dm-including", operand: 2 }]],
    ['dm:"Smith, John,Mei Lin"', [{ operator: "dm", operand: [4, 2] }]],
    ['sender:"Smith, John"', [{ operator: "sender", operand: 4 }]],
    ['sender:"kim lee|6"', [{ operator: "sender", operand: 6 }]],
    ['channel:"say \\"hi\\""', [{ operator: "channel", operand: 9 }]],
    [
      'channel:"say \\"hi\\"" topic:"a \\\\ b" now',
      [
        { operator: "channel", operand: 9 },
        { operator: "topic", operand: "a \\ b" },
        { operator: "search", operand: "now" },
      ],
    ],
  ];
  for (const [typed, terms] of written) {
    t.strictSame(termsOfText(typed, crowd), terms, typed);
    t.equal(textOfTerms(terms, crowd), typed);
  }
  t.strictSame(
    termsOfText('dm-including:"Mei Lin,Jonas Falk"', crowd),
    [2, 3].map((operand) => ({ operator: "dm-including", operand })),
    "each of several people",
  );
  t.strictSame(termsOfText("sender:3", crowd), [{ operator: "sender", operand: 3 }]);
  t.strictSame(termsOfText("sender:99", crowd), [{ operator: "sender", operand: "99" }]);
  const offered = (query: string) => suggestionsFor(query, crowd).map((one) => one.text);
  t.ok(offered("sender:kim").includes('sender:"kim lee|6"'));
  t.ok(offered("channel:say").includes('channel:"say \\"hi\\""'));
  t.ok(offered('channel:"say \\"hi\\"" topic:the').includes('channel:"say \\"hi\\"" topic:"the \\"end\\""'));
  t.strictSame(
    placeOf("#narrow/dm-including/4,5-group"),
    narrow([4, 5].map((operand) => ({ operator: "dm-including", operand }))),
    "older links lead there, too",
  );
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (topic) => {
      const terms = [{ operator: "topic", operand: topic }];
      if (narrowKey(termsOfText(textOfTerms(terms, crowd), crowd)) !== narrowKey(terms)) throw new Error(topic);
    }),
    { seed: 20261128 },
  );
  t.end();
});

t.test("completion finds what is being typed", (t) => {
  const at = (typed: string) => startedAt(typed, typed.length);
  t.match(at("Hello @me"), { kind: "person", query: "me", start: 6 });
  t.match(at("Hello @_**Mei L"), { kind: "person", query: "Mei L", isSilent: true });
  t.match(at("see #kit"), { kind: "channel", query: "kit" });
  t.match(at("see #C*-al"), { kind: "channel", query: "C*-al" }, "names have asterisks");
  t.match(at("see #**kitchen>lu"), { kind: "topic", query: "lu", channel: "kitchen" });
  t.match(at("so :tad"), { kind: "emoji", query: "tad" });
  t.match(at("/po"), { kind: "command", query: "po" });
  for (const typed of ["mail@example", "a#b", "10:30", "at 12:00", "not /po", "in #**kitchen** at"])
    t.equal(at(typed), null, typed);
  t.strictSame(
    best(["Anton", "banana", "Nantes"], (one) => one, "an", 3),
    ["Anton", "banana", "Nantes"],
  );
  t.strictSame(
    best(["Zoë", "Zoo"], (one) => one, "zoe", 3),
    ["Zoë"],
    "accents do not count",
  );
  t.end();
});

t.test("what completion inserts renders as a link or a mention, whatever the names contain", (t) => {
  const announce = { id: 9, name: "announce" };
  t.equal(channelReference(announce), "#**announce**");
  t.equal(topicReference(announce, "lunch"), "#**announce>lunch**");
  t.equal(channelStart("announce"), "#**announce>");
  t.equal(channelStart("R > core"), null, "no topic can follow");
  const linked: readonly (readonly [typed: string, href: RegExp, shown: string])[] = [
    [topicReference(announce, "C*-algebras"), /^#narrow\/channel\/9-announce\/topic\//, "#announce &gt; C*-algebras"],
    [
      topicReference(announce, "C*-algebras", 31),
      /^#narrow\/channel\/9-announce\/topic\/[^/]*\/with\/31$/,
      "#announce &gt; C*-algebras",
    ],
    [topicReference(announce, "mail me@12"), /^#narrow\/channel\/9-announce\/topic\//, "#announce &gt; mail me@12"],
    [channelReference({ id: 5, name: "R > core" }), /^#narrow\/channel\/5-/, "#R &gt; core"],
    [
      topicReference({ id: 5, name: "a [b](c) & `d`" }, ":smile: **x** $$y$$ @**all** <b>"),
      /^#narrow\/channel\/5-/,
      "#a [b](c) &amp; `d` &gt; :smile: **x** $$y$$ @**all** &lt;b&gt;",
    ],
  ];
  for (const [typed, href, shown] of linked) {
    const [, found = "", text] = /^<p><a href="([^"]*)">(.*)<\/a><\/p>$/.exec(html(typed)) ?? [];
    t.match(found, href, typed);
    t.equal(text, shown);
  }
  t.equal(mentionOf("Mei Lin", 2, false), "Mei Lin");
  t.equal(mentionOf("Mei Lin", 2, true), "Mei Lin|2");
  t.equal(mentionOf("all", 2, false), "all|2", "a person of this name, not everybody");
  t.end();
});

t.test("a quote ends where its text ends, and nothing is completed in code", (t) => {
  const sources = ["```\ncode", "~~~\n```", "```quote\n```js\nx", "a `b` ````", "```spoiler x\ny", "plain"];
  for (const source of sources) {
    const [quote, after] = html(`${fenced("quote", source)}\nanswer`).split("</blockquote>\n<p>answer</p>");
    t.equal(after, "", source);
    t.match(quote, "<blockquote>");
  }
  t.equal(openFences("```\na\n```").length, 0);
  t.equal(openFences("```quote\n~~~\n```").length, 2);
  for (const typed of ["```\n@me", "~~~ js\n:tad", "```quote\n~~~\n#kit"])
    t.equal(startedAt(typed, typed.length), null, typed);
  t.match(startedAt("```quote\n@me", 12), { kind: "person", query: "me" });
  t.end();
});

t.test("an option of a poll is shown once, with its first key, and an unknown widget is none", (t) => {
  const of = (content: unknown) =>
    widgetOf({
      submessages: [{ id: 1, message_id: 1, sender_id: 2, msg_type: "widget", content: JSON.stringify(content) }],
    });
  const extra_data = { question: "?", options: ["tea", "milk", "tea", "soup"] };
  t.match(of({ widget_type: "poll", extra_data }), {
    options: [{ key: "canned,0" }, { key: "canned,1" }, { key: "canned,3", text: "soup" }],
  });
  t.equal(of({ widget_type: "zform", extra_data: {} }), null);
  t.end();
});
