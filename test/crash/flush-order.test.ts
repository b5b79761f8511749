/**
 * M1 from the outside: the kernel's record of what the server wrote, flushed and sent shows that no response and no
 * event left before the flush of its turn. Skipped with a message where strace is missing or not permitted.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { temporaryFolder } from "../support/server.ts";
import { Socket } from "../support/socket.ts";
import { startTraced, tracingObstacle } from "../support/strace.ts";
import { judge, linesSent, parseTrace, type Verdict } from "./trace.ts";

const store = "/realms/1/data.mdb";
const traced =
  "openat,close,rename,read,recvfrom,recvmsg,write,writev,pwrite64,pwritev,pwritev2,fdatasync,sendto,sendmsg,sendmmsg";
const rounds = 4;
const posters = 16;

t.test("[M1] no response and no event leaves the process before the flush of its turn", async (t) => {
  const reason = tracingObstacle();
  if (reason !== null) {
    t.pass(`not traced: ${reason}`, { skip: reason });
    return;
  }
  const file = join(temporaryFolder(t), "trace");
  // Record every string whole.
  const flags = ["-s", "1048576", "-e", `trace=${traced}`];
  const { program, url, owner } = await startTraced(t, { dataDir: temporaryFolder(t), file, flags });

  const socket = new Socket(url, { as: owner });
  await socket.opened();
  await socket.ask({ type: "register", params: { event_types: ["message"] } });
  const texts: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const posts = Array.from({ length: posters }, (_, poster) => `text-of-${round}-${poster}-here`);
    texts.push(...posts);
    await Promise.all(posts.map((text, poster) => owner.say("general", `topic ${poster % 3}`, text)));
  }
  await Promise.all(texts.map((text) => socket.event((event) => event.message?.content.includes(text))));
  socket.close();
  t.equal((await program.end("SIGTERM")).code, 0);

  const trace = readFileSync(file, "latin1");
  const verdict = judge(trace, texts, store);
  t.strictSame(verdict.violations, []);
  t.equal(verdict.answers, texts.length, "every response was checked");
  t.ok(verdict.events >= texts.length, "and every event");
  controls(t, trace, texts);
});

/** Checks that the judge finds violations in traces that contain some. */
function controls(t: Test, trace: string, texts: readonly string[]): void {
  const found = (doctored: readonly string[]): Verdict => judge(doctored.join("\n"), texts, store);
  const lines = trace.split("\n");

  t.ok(found(lines.filter((line) => !isSync(line))).violations.length >= texts.length, "no flush at all");

  const failing = lines.map((line) => (isSync(line) ? line.replace(/= 0$/, "= -1 EIO (Input/output error)") : line));
  t.ok(found(failing).violations.length >= texts.length, "flushes that failed");

  const [place] = placesOf(trace, texts);
  if (place === undefined) {
    t.fail("no event and no answer is in a line of its own");
    return;
  }
  const { text, writtenAt, eventAt, requestedAt, answerAt } = place;
  t.ok(writtenAt > 0 && eventAt > writtenAt, "the text was written, then published");
  const flushAt = lines.findIndex((line, index) => index > writtenAt && isSync(line));
  // One write may carry several posts.
  const received = found(moved(lines, eventAt, flushAt)).violations;
  t.ok(received.includes(`an event carried ${text} before it was durable`), "an event that was sent too early");
  const answered = found(moved(lines, answerAt, requestedAt + 1)).violations;
  t.ok(answered.includes(`${text} was answered before it was durable`), "an answer that was sent too early");
}

interface Place {
  readonly text: string;
  /** Lines of the trace. */
  readonly writtenAt: number;
  readonly eventAt: number;
  readonly requestedAt: number;
  readonly answerAt: number;
}

/** Of the texts whose event and answer are in one line each: a call that another thread interrupted is in two. */
function placesOf(trace: string, texts: readonly string[]): Place[] {
  const lines = trace.split("\n");
  const sent = linesSent(trace, store);
  const calls = parseTrace(trace);
  const isWhole = (at: number) => at >= 0 && !/<unfinished \.\.\.>$| resumed>/.test(lines[at] as string);
  const places = texts.map((text) => {
    const requestRead = calls.find((call) => /^(?:read|recv)/.test(call.name) && call.text.includes(text));
    const requestedAt = requestRead?.end ?? 0;
    const fd = /^\d+/.exec(requestRead?.text ?? "")?.[0] ?? "";
    return {
      text,
      writtenAt: lines.findIndex((line) => /(?:pwrite64|writev|pwritev)\(/.test(line) && line.includes(text)),
      eventAt: lines.findIndex((line, index) => line.includes(text) && sent.has(index)),
      requestedAt,
      answerAt: lines.findIndex((line, index) => index > requestedAt && line.includes(`(${fd}, "HTTP/1.1 200 `)),
    };
  });
  return places.filter(({ eventAt, answerAt }) => isWhole(eventAt) && isWhole(answerAt));
}

function isSync(line: string): boolean {
  return line.includes("fdatasync(") || line.includes("fdatasync resumed");
}

/** With a line at an earlier place. */
function moved(lines: readonly string[], from: number, to: number): string[] {
  return lines.toSpliced(from, 1).toSpliced(to, 0, lines[from] as string);
}

t.test("[M1] a turn is durable when the segment that has its record is flushed", async (t) => {
  const trace = [
    '1 openat(AT_FDCWD, "/d/journal/1.spare", O_WRONLY|O_CLOEXEC) = 5',
    '1 rename("/d/journal/1.spare", "/d/journal/1.journal") = 0',
    '1 openat(AT_FDCWD, "/d/journal/1.journal", O_RDWR|O_CLOEXEC) = 7',
    '1 openat(AT_FDCWD, "/d/journal/2.journal", O_WRONLY|O_CLOEXEC) = 6',
    '1 recvfrom(9, "POST abc-1", 10, 0, NULL, NULL) = 10',
    '2 pwrite64(5, "abc-1", 5, 64) = 5',
    "2 fdatasync(6) = 0",
    "2 fdatasync(7 <unfinished ...>",
    '1 write(3, "x", 1) = 1',
    "2 <... fdatasync resumed>) = 0",
    '1 sendto(9, "HTTP/1.1 200 OK", 15, 0, NULL, 0) = 15',
  ];
  const verdictOf = (lines: readonly string[]) => judge(lines.join("\n"), ["abc-1"], store);
  t.strictSame(verdictOf(trace), { violations: [], answers: 1, events: 0 });
  for (const early of [7, 8, 9]) {
    const hasty = trace.toSpliced(10, 1).toSpliced(early, 0, trace[10] as string);
    t.strictSame(verdictOf(hasty).violations, ["abc-1 was answered before it was durable"]);
  }
  const begun = trace
    .filter((line) => !line.includes("write(3"))
    .toSpliced(9, 1, "1 <... sendto resumed>) = 15")
    .toSpliced(8, 0, '1 sendto(9, "HTTP/1.1 200 OK", 15, 0, NULL, 0 <unfinished ...>');
  t.strictSame(verdictOf(begun).violations, ["abc-1 was answered before it was durable"], "a call that ends later");
});

t.test("[M1] a trace of threads that interrupt one another is ordered by the starts and ends of calls", async (t) => {
  const trace = [
    '1 openat(AT_FDCWD, "/d/realms/1/data.mdb", O_RDWR|O_CREAT, 0664) = 5',
    '1 openat(AT_FDCWD, "/d/realms/1/data.mdb", O_WRONLY|O_DSYNC|O_CLOEXEC) = 6',
    '1 recvfrom(9, "POST abc-1", 10, 0, NULL, NULL) = 10',
    '1 writev(5, [{iov_base="abc-1", iov_len=5}], 1) = 5',
    "1 fdatasync(5 <unfinished ...>",
    '2 write(3, "x", 1) = 1',
    "1 <... fdatasync resumed>) = 0",
    '1 pwrite64(6, "meta", 4, 0) = 4',
    '1 sendto(9, "HTTP/1.1 200 OK", 15, 0, NULL, 0) = 15',
  ];
  const verdictOf = (lines: readonly string[]) => judge(lines.join("\n"), ["abc-1"], store);
  t.strictSame(verdictOf(trace), { violations: [], answers: 1, events: 0 });
  const early = trace.toSpliced(8, 1).toSpliced(6, 0, trace[8] as string);
  t.strictSame(verdictOf(early).violations, ["abc-1 was answered before it was durable"], "during the flush");
  const between = trace.toSpliced(8, 1).toSpliced(7, 0, trace[8] as string);
  t.strictSame(verdictOf(between).violations, ["abc-1 was answered before it was durable"], "before the meta page");
  t.strictSame(verdictOf(trace.slice(0, 6)).violations, ["abc-1 never became durable", "abc-1 was never answered"]);
});
