/**
 * What takes little processor time, measured. A busy machine may make it look longer, so only the deep tier judges it;
 * markdown-steps.test.ts counts steps instead.
 */
import t from "tap";
import { contentDiff } from "../../domain/content-diff.ts";
import { highlight } from "../../domain/search/highlight.ts";
import { readSearch } from "../../domain/search/query.ts";
import { limits } from "../../schemas/limits.ts";
import { fill, hostileTexts, ordinary, render, repeatedUnits } from "./markdown-support.ts";

const LINKIFIERS = [
  { pattern: "#(?P<id>[0-9]+)", urlTemplate: "https://tracker.example/{id}" },
  { pattern: "js:(?P<rest>.+)", urlTemplate: "javascript:{+rest}" },
];

/** CPU time of one rendering. */
const renderingMs = (content: string): number => {
  const start = process.cpuUsage();
  render(content, { linkifiers: LINKIFIERS, translateEmoticons: true });
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
};

/**
 * Relative to an ordinary message of full length: the minimum of several alternating runs, so that a busy machine slows
 * both.
 */
const timesOrdinary = (content: string, runs: number): number => {
  let [fastest, yardstick] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let run = 0; run < runs; run++) {
    yardstick = Math.min(yardstick, renderingMs(ordinary));
    fastest = Math.min(fastest, renderingMs(content));
  }
  return fastest / yardstick;
};

// An ordinary message of full length takes 2.8 ms (2 cores, measured by this test), so a limit of 5 ms is 1.8 times
// that; as a ratio it holds on any machine. The most expensive of the 60 texts of markdown-support.ts, 10,000
// characters each, took 1.5 times as long.
t.test("[S3] 10,000 brackets, stars or quote marks, and deep nesting, cost no more than a long message", async (t) => {
  for (const content of hostileTexts) {
    const times = timesOrdinary(content, 20);
    t.ok(times < 2.5, `${JSON.stringify(content.slice(0, 12))} took ${times.toFixed(2)} times as long`);
  }
});

t.test("[S3] every repeated piece of syntax takes linear time", async (t) => {
  for (const unit of repeatedUnits) {
    const times = timesOrdinary(fill(unit), 3);
    t.ok(times < 20, `${JSON.stringify(unit)} took ${times.toFixed(2)} times as long`);
  }
});

t.test("[S3] a message of maximum length is highlighted in little time", async (t) => {
  const html = `<p>${"foo &amp; <b>bar</b> ".repeat(1000)}</p>`;
  let took = Number.POSITIVE_INFINITY;
  // A busy machine may stand still in one attempt; repeated passes take long in each.
  for (let attempt = 0; attempt < 5 && took >= 500; attempt++) {
    const startedAt = performance.now();
    highlight(readSearch('"foo &" bar', "english"), html);
    took = performance.now() - startedAt;
  }
  t.ok(took < 500, `no repeated passes over the text: ${took} ms`);
});

t.test("[S3] history_diff_characters_max: many spaces cost no more than words", async (t) => {
  const length = limits.history_diff_characters_max - 100;
  const blanks = `<p>a${" ".repeat(length)}b</p>`;
  const words = `<p>${"a ".repeat(length / 2)}b</p>`;
  const cpu = (text: string) => {
    for (let run = 0; run < 5; run++) contentDiff("<p>x</p>", text);
    const since = process.cpuUsage();
    for (let run = 0; run < 5; run++) contentDiff("<p>x</p>", text);
    return process.cpuUsage(since).user;
  };
  const [blank, word] = [cpu(blanks), cpu(words)];
  t.ok(blank < 4 * word, `${blank} and ${word} us`);
});
