/**
 * Collects the failed assertions of a TAP log for the end of the run, where a log that is cut keeps them: the subtests
 * around each, its message and diff, its place, and the comments that repeat it (SEED=..., STEPS=...).
 */

/** Lines at the end of a run. */
export const failedLinesMax = 500;
const assertionsMax = 25;
const linesPerAssertionMax = 20;
const lineLengthMax = 300;
/** A comment that repeats a run is useless if it is cut, and a shrunk day of steps is long. */
const repeatLengthMax = 6000;
const commentsMax = 3;

/** Keys of a diagnostics block whose lines say little; `stack` is cut, because its first lines say where it began. */
const omitted = new Set(["at", "source", "tapCaught", "testname", "name"]);
const stackLinesMax = 5;

function cut(line, lengthMax = lineLengthMax) {
  return line.length <= lengthMax ? line : `${line.slice(0, lengthMax)}...`;
}

/** Depth of a line: a subtest indents its lines by four spaces. */
function depthOf(indent) {
  return Math.floor(indent.length / 4);
}

export class Failures {
  /** The open subtests, outermost first. */
  #subtests = [];
  #shown = [];
  #titles = new Set();
  #count = 0;
  /** The diagnostics block that is being read; null outside of one. */
  #block = null;

  /** @param line the next line of the log */
  note(line) {
    if (this.#block !== null) {
      this.#noteInBlock(this.#block, line);
      return;
    }
    const subtest = /^( *)# Subtest: (.+)$/.exec(line);
    if (subtest !== null) {
      const depth = depthOf(subtest[1]);
      this.#subtests.length = Math.min(this.#subtests.length, depth);
      this.#subtests[depth] = { name: subtest[2], repeats: [], comments: [], hasFailed: false };
      return;
    }
    const result = /^( *)(not )?ok\b(?: \d+)?(?: - )?(.*)$/.exec(line);
    if (result !== null) this.#noteResult(depthOf(result[1]), result[2] !== undefined, result[3]);
    else this.#noteComment(line);
  }

  #noteComment(line) {
    const comment = /^( *)# (.+)$/.exec(line);
    const subtest = comment === null ? undefined : this.#subtests[depthOf(comment[1]) - 1];
    if (subtest === undefined || /^(?:time=|\{ total)/.test(comment[2])) return;
    if (/^[A-Z]+=/.test(comment[2])) subtest.repeats.push(cut(comment[2], repeatLengthMax));
    else subtest.comments.push(cut(comment[2]));
  }

  #noteResult(depth, isFailed, text) {
    const ended = this.#subtests[depth];
    this.#subtests.length = Math.min(this.#subtests.length, depth);
    if (!isFailed) return;
    const around = this.#subtests.filter((subtest) => subtest !== undefined);
    for (const subtest of around) subtest.hasFailed = true;
    // A subtest fails with its assertions, which are shown.
    if (ended?.hasFailed === true) return;
    this.#count++;
    if (this.#count > assertionsMax) return;
    const message = text.replace(/ # time=.*$/, "");
    const [file, ...titles] = [...around.map(({ name }) => name), message];
    this.#titles.add(cut(around.length === 0 ? message : `${file}: ${titles[0]}`));
    const about = ended === undefined ? around : [...around, ended];
    const repeats = about.flatMap((subtest) => subtest.repeats);
    const comments = about.flatMap((subtest) => subtest.comments).slice(-commentsMax);
    this.#shown.push(
      `not ok - ${[...around.map(({ name }) => name), cut(message)].join(" > ")}`,
      ...[...repeats, ...comments].map((comment) => `  # ${comment}`),
    );
    this.#block = { indent: null, key: "", lines: 0, linesOfKey: 0, place: {} };
  }

  /** A block has an entry per line, between `---` and `...`, two spaces deeper than its assertion. */
  #noteInBlock(block, line) {
    if (block.indent === null) {
      const opening = /^( *)---$/.exec(line);
      this.#block = opening === null ? null : { ...block, indent: opening[1] };
      if (opening === null) this.note(line);
      return;
    }
    if (line === `${block.indent}...`) {
      const { fileName, lineNumber } = block.place;
      if (fileName !== undefined) this.#shown.push(`  at ${fileName}:${lineNumber}`);
      this.#block = null;
      return;
    }
    const entry = line.slice(block.indent.length);
    const key = /^([A-Za-z]\w*):/.exec(entry)?.[1];
    if (key !== undefined) Object.assign(block, { key, linesOfKey: 0 });
    block.linesOfKey++;
    const place = block.key === "at" ? /^ {2}(fileName|lineNumber): (.+)$/.exec(entry) : null;
    if (place !== null) block.place[place[1]] = place[2];
    const isStackEnd = block.key === "stack" && block.linesOfKey > stackLinesMax;
    if (omitted.has(block.key) || isStackEnd || entry.trim() === "") return;
    if (block.lines++ < linesPerAssertionMax) this.#shown.push(`  ${cut(entry)}`);
  }

  /** @returns `<file>: <title>` of each test that failed */
  get titles() {
    return [...this.#titles];
  }

  /** @returns the lines to print; none if everything passed */
  get lines() {
    const more = this.#count - assertionsMax;
    return more > 0 ? [...this.#shown, `and ${more} more`] : [...this.#shown];
  }
}
