/**
 * The cost of searches for other users (S3; architecture, The path of a write): passes are bounded in characters, a
 * text is folded once for all terms, readers take turns, and a search stops when its client hangs up.
 */
import t from "tap";
import { readNarrow, termsOf } from "../../domain/narrow/narrow.ts";
import { highlight } from "../../domain/search/highlight.ts";
import { readSearch } from "../../domain/search/query.ts";
import { TextSearch } from "../../domain/search/text-search.ts";
import type { View } from "../../domain/view.ts";
import { limits } from "../../schemas/limits.ts";
import type { GroupRecord } from "../../schemas/user-groups.ts";
import { messageFetchRoutes } from "../../src/operations/routes/message-fetch.ts";
import { messageFlagRoutes } from "../../src/operations/routes/message-flags.ts";
import { PassBudget, Passes } from "../../src/queries/passes.ts";
import { SearchedWords } from "../../src/queries/searched-words.ts";
import { callOf, read } from "../sim/calls.ts";
import { fillIndexes, fillTopics, messageRow, setNewestMessage } from "../support/filled.ts";
import { fill, rowsFor } from "../support/rows.ts";
import { generalId, type OpenRealm, openNewRealm, ownerId, turn } from "../support/runtime.ts";

const routes = [...messageFetchRoutes, ...messageFlagRoutes];
const conversationId = 500;
const firstId = 1000;

/** Maximum-length texts in a script without spaces, all different. */
function longText(index: number, length: number = limits.message_code_points_max): string {
  return Array.from({ length }, (_, at) => String.fromCharCode(0x4e00 + ((at * 31 + index * 17) % 5000))).join("");
}

function fillLong({ realm }: OpenRealm, count: number): void {
  fillTopics(realm, 1, conversationId);
  fillIndexes(realm, conversationId, count, firstId);
  const rows = rowsFor<"messages">(
    count,
    (id) => {
      const content = longText(id);
      return [id, messageRow(id, conversationId, { content, rendered: `<p>${content}</p>`, senderId: ownerId })];
    },
    firstId,
  );
  fill(realm, "messages", rows);
  setNewestMessage(realm, firstId + count - 1);
}

interface Measured {
  // biome-ignore lint/suspicious/noExplicitAny: the response is JSON whose shape the tests examine
  readonly body: any;
  readonly code: string | null;
  readonly passes: number;
  /** Characters that were folded and compared in each pass of the event loop. */
  readonly compared: readonly number[];
}

/** The same so far in this pass. */
let comparing = 0;
const { matches } = TextSearch.prototype;
TextSearch.prototype.matches = function (id, html, topic, spend) {
  return matches.call(this, id, html, topic, (characters) => {
    comparing += characters;
    spend(characters);
  });
};
t.teardown(() => {
  TextSearch.prototype.matches = matches;
});

async function measured(opened: OpenRealm, operationId: string, params: object, onAbort?: (gone: () => void) => void) {
  const { realm } = opened;
  const caller = realm.view.users.get(ownerId);
  const handler = routes.find(({ endpoint }) => endpoint.operationId === operationId)?.handler;
  if (caller === undefined || handler === undefined) throw new Error("there is no owner, or no such operation");
  let isOver = false;
  const call = callOf({ realm, caller, params, ...(onAbort === undefined ? {} : { onAbort }) });
  const answer = Promise.resolve(handler(call as never)).finally(() => {
    isOver = true;
  });
  const compared: number[] = [];
  while (!isOver) {
    comparing = 0;
    await turn();
    compared.push(comparing);
  }
  const { code, body } = read(await answer);
  const result: Measured = { code, body, passes: compared.length, compared };
  return result;
}

const inGeneral = { operator: "channel", operand: generalId };
const searchFor = (operand: string, negated = false) => ({ operator: "search", operand, negated });
const negated = (count: number) => Array.from({ length: count }, (_, index) => searchFor(`x${index}`, true));
const fetched = {
  anchor: "newest",
  num_before: 1000,
  num_after: 0,
  include_anchor: true,
  apply_markdown: true,
  client_gravatar: true,
  allow_empty_topic_name: true,
};
const flagged = { anchor: "newest", num_before: 1000, num_after: 0, include_anchor: true, op: "add", flag: "starred" };

t.test("[S3] narrow_characters_per_pass_max: long texts end a pass before its row budget is used up", async (t) => {
  const opened = await openNewRealm(t);
  const count = 150;
  fillLong(opened, count);
  const expected = Math.floor((count * limits.message_code_points_max) / limits.narrow_characters_per_pass_max);
  const cases: [operationId: string, params: object][] = [
    ["get-messages", { ...fetched, narrow: [inGeneral, ...negated(90)] }],
    ["get-messages", { ...fetched, narrow: [inGeneral, searchFor(longText(0).charAt(0))] }],
    ["update-message-flags-for-narrow", { ...flagged, narrow: [inGeneral, ...negated(90)] }],
  ];
  for (const [operationId, params] of cases) {
    const { body, code, passes, compared } = await measured(opened, operationId, params);
    t.equal(code, null);
    t.equal(body.processed_count ?? body.messages.length, count, operationId);
    t.ok(passes >= expected, `${passes} passes, at least ${expected}`);
    const total = compared.reduce((sum, characters) => sum + characters, 0);
    t.ok(total >= count * limits.message_code_points_max, `${total} characters: every text was compared`);
    // A pass ends after the text with which its characters are spent; the first two fall into one turn.
    const most = 2 * (limits.narrow_characters_per_pass_max + total / count);
    t.ok(Math.max(...compared) <= most && most < total, `${operationId}: ${compared}, at most ${most} in a pass`);
  }
});

t.test("[S3] a text is folded once for all terms of a narrow, and the cost is charged", async (t) => {
  const html = `<p>${longText(1)}</p>`;
  const costOf = (count: number) => {
    let cost = 0;
    const terms = negated(count).map(({ operand }) => ({
      query: readSearch(operand, "english"),
      operand,
      negated: true,
    }));
    new TextSearch(terms).matches(1, html, "topic", (characters) => {
      cost += characters;
    });
    return cost;
  };
  t.ok(costOf(1) >= html.length);
  t.ok(costOf(99) < 20 * costOf(1), `${costOf(99)} for 99 terms, ${costOf(1)} for one`);
});

t.test("[S3] a match is not compared again before it is returned, unless the message changed", async (t) => {
  const search = new TextSearch([{ query: readSearch("a", "english"), operand: "a", negated: false }]);
  const costOf = (html: string, topic: string) => {
    let cost = 0;
    const isMatch = search.matches(1, html, topic, (characters) => {
      cost += characters;
    });
    return [isMatch, cost > 0];
  };
  t.strictSame(costOf("<p>a</p>", "t"), [true, true]);
  t.strictSame(costOf("<p>a</p>", "t"), [true, false]);
  t.strictSame(costOf("<p>b</p>", "t"), [false, true], "edited");
  t.strictSame(costOf("<p>a</p>", "u"), [true, true], "moved");
});

t.test("[S3] all reads of a pass share its budget, and users take turns, however many they send", async (t) => {
  const passes = new Passes();
  const order: string[] = [];
  const ask = async (reader: string, name: string) => {
    const waiting = passes.enter(reader);
    if (waiting !== null) await waiting;
    order.push(name);
    passes.leave(1);
  };
  const all = ["a1", "a2", "a3", "b1", "a4"].map((name) => ask(name.charAt(0), name));
  await Promise.resolve();
  t.strictSame(order, ["a1"], "the first search has the whole pass");
  await Promise.all(all);
  t.strictSame(order, ["a1", "a2", "b1", "a3", "a4"]);
  await turn();
  t.equal(passes.enter("c"), null, "no search is waiting");
  passes.leave(0.5);
  t.equal(passes.enter("d"), null, "there is budget left in this pass");
  passes.leave(0.5);
  t.not(passes.enter("e"), null);
});

t.test("[S3] when the client hangs up, its search stops and no message of the range is flagged", async (t) => {
  const opened = await openNewRealm(t);
  fillLong(opened, 150);
  let gone: () => void = () => undefined;
  const params = { ...flagged, narrow: [inGeneral, ...negated(90)] };
  const pending = measured(opened, "update-message-flags-for-narrow", params, (callback) => {
    gone = callback;
  });
  await turn();
  gone();
  const { code, passes } = await pending;
  t.equal(code, "BAD_REQUEST");
  t.ok(passes < 10, `${passes} passes after the hang-up`);
  const range = { start: [ownerId], end: [ownerId + 1], limit: 1 };
  t.strictSame(opened.realm.view.keys("messageFlags", range), []);
});

t.test("[S3] search_operands_code_points_max, search_words_max: all terms together; more is BAD_NARROW", async (t) => {
  const { realm } = await openNewRealm(t);
  const owner = realm.view.users.get(ownerId);
  if (owner === undefined) throw new Error("no owner");
  const refusalOf = (operands: readonly string[]) => {
    const read = readNarrow(realm.view, owner, termsOf(operands.map((operand) => searchFor(operand, true))));
    return "kind" in read ? [read.code, read.msg] : null;
  };
  const half = limits.search_operands_code_points_max / 2;
  t.equal(refusalOf(["x".repeat(half), "y".repeat(half)]), null, "at the bound");
  t.strictSame(refusalOf(["x".repeat(half), "y".repeat(half), "z"]), [
    "BAD_NARROW",
    `Invalid narrow operator: search operands are too long together (limit: ${2 * half} characters)`,
  ]);
  const words = (count: number, letter: string) => Array.from({ length: count }, (_, n) => `${letter}${n}`).join(" ");
  const max = limits.search_words_max;
  t.equal(refusalOf([words(max / 2, "a"), words(max / 2, "b")]), null, "at the bound");
  const over = ["BAD_NARROW", `Invalid narrow operator: too many words to search for (limit: ${max})`];
  t.strictSame(refusalOf([words(max / 2, "a"), words(max / 2, "b"), "c"]), over);
  t.equal(refusalOf([longText(0, max)]), null, "pairs of characters and the phrase they form");
  t.strictSame(refusalOf([longText(0, max + 1)]), over);
});

t.test("[S3] search_words_walked_max: that many words select the candidates, results contain all words", async (t) => {
  const { realm } = await openNewRealm(t);
  const walked = (operand: string) => {
    const words = new SearchedWords(realm.view, readSearch(operand, "english"));
    while (!words.prepare(new PassBudget()));
    return words.walked(false).length;
  };
  const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n}`).join(" ");
  const max = limits.search_words_walked_max;
  t.strictSame([walked(words(max)), walked(words(max + 1))], [max, max]);
});

t.test("[S3] search_marks_per_message_max, search_marked_characters_max: more is not highlighted", async (t) => {
  const marks = (html: string) =>
    highlight(readSearch("foo", "english"), html).split('<span class="highlight">').length - 1;
  const max = limits.search_marks_per_message_max;
  t.strictSame([marks("foo ".repeat(max)), marks("foo ".repeat(max + 1))], [max, max]);
  const end = limits.search_marked_characters_max;
  const padded = (length: number) => `${"é".repeat(length - 4)} foo`;
  t.strictSame([marks(padded(end)), marks(padded(end + 3))], [1, 0]);
});

t.test("[S3] mention_groups_merged_max, mention_group_looks_max: with more all messages are scanned", async (t) => {
  const { realm } = await openNewRealm(t);
  const owner = realm.view.users.get(ownerId);
  if (owner === undefined) throw new Error("no owner");
  /**
   * @param own how many of the groups contain the owner
   * @param subgroups of each group
   */
  const isFiled = (count: number, own: number, subgroups = 0) => {
    const ids = Array.from({ length: own }, (_, index) => index + 1);
    const subgroupIds = Array.from({ length: subgroups }, (_, index) => 1_000_000 + index);
    const group = (index: number) => ({ id: index + 1, isSystem: false, subgroupIds }) as unknown as GroupRecord;
    const groups = {
      allNamed: () => Array.from({ length: count }, (_, index) => group(index)),
      ofMember: () => ids,
      system: () => undefined,
    };
    const view = new Proxy(realm.view, {
      get: (target, name) => (name === "groups" ? groups : Reflect.get(target, name, target)),
    }) as View;
    const read = readNarrow(view, owner, termsOf([["is", "mentioned"]]));
    if ("kind" in read) throw new Error(read.msg);
    return read.filed.length === 1;
  };
  const merged = limits.mention_groups_merged_max;
  t.strictSame([isFiled(merged, merged), isFiled(merged + 1, merged + 1)], [true, false]);
  const looks = limits.mention_group_looks_max / 10;
  t.strictSame([isFiled(looks, 1, 9), isFiled(looks + 1, 1, 9)], [true, false]);
});
