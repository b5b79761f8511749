/**
 * Reads a trace of system calls (strace -f) and reports responses and events that left the process before they were
 * durable (M1). With the journal, a turn is durable after the flush (fdatasync) of the segment that its record was
 * written to. Without it, LMDB writes the pages of a turn, flushes them, then writes the meta page through a descriptor
 * with O_DSYNC: only then is the turn durable.
 */

/** One call; `start` and `end` are line numbers: a call that another thread interrupts has two lines. */
export interface Call {
  readonly name: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Every completed call, ordered by its end; but a `close` by its start, because another thread may get the descriptor
 * before it ends, and what is sent by its start, because it may leave at once.
 */
export function parseTrace(trace: string): Call[] {
  const calls: Call[] = [];
  const unfinished = new Map<string, { name: string; text: string; start: number }>();
  trace.split("\n").forEach((line, index) => {
    const begun = /^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$/.exec(line);
    if (begun !== null) {
      unfinished.set(`${begun[1]} ${begun[2]}`, { name: begun[2] ?? "", text: begun[3] ?? "", start: index });
      return;
    }
    const resumed = /^(\d+) +<\.\.\. (\w+) resumed>(.*)$/.exec(line);
    if (resumed !== null) {
      const key = `${resumed[1]} ${resumed[2]}`;
      const call = unfinished.get(key);
      unfinished.delete(key);
      if (call !== undefined) calls.push({ ...call, text: call.text + (resumed[3] ?? ""), end: index });
      return;
    }
    const whole = /^\d+ +(\w+)\((.*)$/.exec(line);
    if (whole !== null) calls.push({ name: whole[1] ?? "", text: whole[2] ?? "", start: index, end: index });
  });
  const takesEffect = ({ name, start, end }: Call) => (/^(?:close|send)/.test(name) ? start : end);
  return calls.sort((a, b) => takesEffect(a) - takesEffect(b));
}

const writing = new Set(["write", "writev", "pwrite64", "pwritev", "pwritev2"]);
const sending = new Set(["write", "writev", "send", "sendto", "sendmsg", "sendmmsg"]);
const receiving = new Set(["read", "recv", "recvfrom", "recvmsg"]);

type Kind = "journal" | "data" | "meta" | "other";

interface Seen extends Call {
  readonly fd: number;
  readonly kind: Kind;
  /** The same for all descriptors of a file; -1 for what has no path. */
  readonly file: number;
}

function kindOf(path: string, flags: string, store: string): Kind {
  if (path.includes("/journal/")) return "journal";
  if (!path.endsWith(store)) return "other";
  return flags.includes("O_DSYNC") ? "meta" : "data";
}

/** The calls with the kind of their descriptor at that time. @param store end of the path of the store's file */
function withDescriptors(calls: readonly Call[], store: string): Seen[] {
  const opened = new Map<number, { readonly kind: Kind; readonly file: number }>();
  const files = new Map<string, number>();
  let count = 0;
  return calls.flatMap((call): Seen[] => {
    if (call.name === "openat") {
      const [, path, flags = "", fd] = /"([^"]*)", ([A-Z_|]+).* = (\d+)$/.exec(call.text) ?? [];
      if (path === undefined) return [];
      const file = files.get(path) ?? count++;
      files.set(path, file);
      opened.set(Number(fd), { kind: kindOf(path, flags, store), file });
      return [];
    }
    if (call.name === "rename") {
      const [, from = "", to = ""] = /"([^"]*)", "([^"]*)"\) += 0$/.exec(call.text) ?? [];
      files.set(to, files.get(from) ?? count++);
      files.delete(from);
      return [];
    }
    const fd = Number(/^\d+/.exec(call.text)?.[0] ?? -1);
    const { kind, file } = opened.get(fd) ?? { kind: "other", file: -1 };
    if (call.name === "close") opened.delete(fd);
    return [{ ...call, fd, kind, file }];
  });
}

/** The lines of a trace in which something leaves the process, and is not written to the journal or the store. */
export function linesSent(trace: string, store: string): ReadonlySet<number> {
  const calls = withDescriptors(parseTrace(trace), store);
  return new Set(calls.filter(({ name, kind }) => sending.has(name) && kind === "other").map(({ start }) => start));
}

export interface Verdict {
  /** One line per response or event that left too early or never became durable. */
  readonly violations: readonly string[];
  readonly answers: number;
  readonly events: number;
}

/**
 * Checks posts, each of which carries a unique text: neither the 200 on its connection nor an event with the text may
 * leave before the pages with the text are flushed and the meta page of their turn is written.
 */
export function judge(trace: string, texts: readonly string[], store: string): Verdict {
  const calls = withDescriptors(parseTrace(trace), store);
  const violations: string[] = [];
  let answers = 0;
  let events = 0;
  for (const text of texts) {
    const durableAt = durableLine(calls, text);
    if (durableAt === null) violations.push(`${text} never became durable`);
    const limit = durableAt ?? Number.POSITIVE_INFINITY;
    const requestRead = calls.find(({ name, text: given }) => receiving.has(name) && given.includes(text));
    const leaving = calls.filter(({ name, kind }) => sending.has(name) && kind === "other");
    const answer = leaving.find(({ fd, start, text: sent }) => {
      return (
        requestRead !== undefined && fd === requestRead.fd && start > requestRead.end && sent.includes("HTTP/1.1 200 ")
      );
    });
    if (answer === undefined) violations.push(`${text} was never answered`);
    else answers++;
    if (answer !== undefined && answer.start < limit) violations.push(`${text} was answered before it was durable`);
    for (const event of leaving.filter(({ text: sent }) => sent.includes(text))) {
      events++;
      if (event.start < limit) violations.push(`an event carried ${text} before it was durable`);
    }
  }
  return { violations, answers, events };
}

/** The line at which the turn that wrote the text is durable. */
function durableLine(calls: readonly Seen[], text: string): number | null {
  const recorded = writeOf(calls, "journal", text);
  return recorded === undefined ? committedLine(calls, text) : (flushAfter(calls, recorded)?.end ?? null);
}

/** LMDB: pages, then flush, then meta page. */
function committedLine(calls: readonly Seen[], text: string): number | null {
  const written = writeOf(calls, "data", text);
  const flushed = written === undefined ? undefined : flushAfter(calls, written);
  const meta = calls.find(
    ({ kind, name, start }) => flushed !== undefined && kind === "meta" && writing.has(name) && start > flushed.end,
  );
  return meta?.end ?? null;
}

function writeOf(calls: readonly Seen[], kind: Kind, text: string): Seen | undefined {
  return calls.find((call) => call.kind === kind && writing.has(call.name) && call.text.includes(text));
}

function flushAfter(calls: readonly Seen[], written: Seen): Seen | undefined {
  return calls.find(
    ({ kind, name, file, start, text: result }) =>
      kind === written.kind &&
      (kind === "data" || file === written.file) &&
      name === "fdatasync" &&
      start > written.end &&
      /= 0$/.test(result),
  );
}
