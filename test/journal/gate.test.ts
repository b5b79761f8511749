/** The gate in front of everything that leaves (M1, M9): order, what waits, and what does not. */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import {
  alwaysDurable,
  type DurabilityGatesOptions,
  TurnPasses,
} from "../../src/durability/journal/durability-gate.ts";
import { openGates } from "../support/manual-gate.ts";

function opened(given: Partial<Pick<DurabilityGatesOptions, "clock">> = {}) {
  const bugs: unknown[] = [];
  const left: string[] = [];
  const { journal, gates, memory } = openGates({
    ...given,
    onLeft: () => left.push("everything"),
    reportBug: (error) => bugs.push(error),
  });
  const realm = () => {
    const gate = gates.open();
    return { gate, write: (...tables: "users"[]) => gate.appended(journal.append(1, Buffer.from("turn")), tables) };
  };
  return { journal, memory, bugs, gates, left, realm, leave: (name: string) => () => void left.push(name) };
}

t.test("[M1] what shows a turn leaves when the turn's record is durable, and not before", async (t) => {
  const { journal, left, leave, realm } = opened();
  const { gate, write } = realm();
  gate.waitFor(leave("before any turn"));
  t.strictSame(left, ["before any turn"], "nothing waits where nothing was written");
  write();
  t.notOk(gate.isOpen);
  gate.waitFor(leave("answer"));
  t.strictSame(left, ["before any turn"]);
  journal.flush();
  t.strictSame(left, ["before any turn", "answer"]);
  t.ok(gate.isOpen);
});

t.test("[M1] what waits leaves in the order of turns, and within one in the order in which it came", async (t) => {
  const { journal, left, leave, realm } = opened();
  const [a, b] = [realm(), realm()];
  a.write();
  a.gate.waitFor(leave("a1"));
  a.gate.waitFor(leave("a2"));
  b.write();
  b.gate.waitFor(leave("b1"));
  a.gate.waitFor(leave("a3"));
  a.write();
  a.gate.waitFor(leave("a4"));
  journal.flush(1);
  t.strictSame(left, ["a1", "a2", "a3"], "a realm does not wait for records of others");
  t.ok(b.gate.isOpen === false);
  journal.flush(2);
  t.strictSame(left, ["a1", "a2", "a3", "b1"]);
  journal.flush();
  t.strictSame(left, ["a1", "a2", "a3", "b1", "a4"]);
});

t.test("[M9] a read waits for the turns that it shows, and for no others", async (t) => {
  const { journal, left, leave, realm } = opened();
  const { gate, write } = realm();
  write("users");
  gate.reads.begin(gate.isOpen);
  gate.reads.noteRead("messages");
  gate.waitFor(leave("messages"), gate.reads.newestRecord ?? gate.newestRecord);
  gate.reads.begin(gate.isOpen);
  gate.reads.noteRead("messages");
  gate.reads.noteRead("users");
  gate.waitFor(leave("users"), gate.reads.newestRecord ?? gate.newestRecord);
  t.strictSame(left, ["messages"]);
  journal.flush();
  t.strictSame(left, ["messages", "users"]);
});

t.test("[M9] a read that begins while the gate is open waits for a turn that runs before it ends", async (t) => {
  const { journal, left, leave, realm } = opened();
  const { gate, write } = realm();
  gate.reads.begin(gate.isOpen);
  write("users");
  gate.reads.noteRead("users");
  gate.waitFor(leave("users"), gate.reads.newestRecord ?? gate.newestRecord);
  t.strictSame(left, []);
  journal.flush();
  t.strictSame(left, ["users"]);
});

t.test("[M1] something that leaves may let more leave: it takes its place behind what waits already", async (t) => {
  const { journal, left, leave, realm } = opened();
  const { gate, write } = realm();
  write();
  gate.waitFor(() => {
    left.push("first");
    gate.waitFor(leave("sent by the first"));
  });
  gate.waitFor(leave("second"));
  journal.flush();
  t.strictSame(left, ["first", "second", "sent by the first"]);
});

t.test("[M1] what leaves for one realm may let something of another leave: nothing is lost or doubled", async (t) => {
  const { journal, left, leave, realm } = opened();
  const [a, b] = [realm(), realm()];
  a.write();
  b.write();
  b.gate.waitFor(() => {
    left.push("b1");
    a.gate.waitFor(leave("a, sent by b1"));
  });
  b.gate.waitFor(leave("b2"));
  journal.flush();
  t.strictSame(left, ["b1", "a, sent by b1", "b2"]);
  a.write();
  a.gate.waitFor(leave("a2"));
  journal.flush();
  t.strictSame(left.at(-1), "a2");
  t.equal(left.length, 4);
});

t.test("[M6] something that throws when it leaves is reported, and what waits behind it leaves", async (t) => {
  const { journal, left, leave, realm, bugs } = opened();
  const { gate, write } = realm();
  write();
  gate.waitFor(() => {
    throw new Error("broken");
  });
  gate.waitFor(leave("behind"));
  journal.flush();
  t.strictSame(left, ["behind"]);
  t.match(bugs, [{ message: "broken" }]);
});

t.test("[S3] what waits at the gate is counted until it leaves", async (t) => {
  const { journal, memory, leave, realm } = opened();
  const { gate, write } = realm();
  write();
  gate.waitFor(leave("event"), undefined, 10);
  write();
  gate.waitFor(leave("event"), undefined, 5);
  t.equal(memory.bytes, 15);
  journal.flush(1);
  t.equal(memory.bytes, 5);
  journal.flush();
  gate.waitFor(leave("at once"), undefined, 5);
  t.equal(memory.bytes, 0, "what does not wait takes no memory");
});

t.test("[S3] what leaves holds the loop for gate_pass_ms_max and one piece; turns wait for the rest", async (t) => {
  let now = 0;
  const later: (() => void)[] = [];
  const { journal, left, leave, realm } = opened({
    clock: { monotonic: () => now, soon: (callback) => void later.push(callback) },
  });
  const { gate, write } = realm();
  const lasting = (name: string, milliseconds: number) => () => {
    leave(name)();
    now += milliseconds;
  };
  write();
  gate.waitFor(lasting("first", limits.gate_pass_ms_max - 1));
  gate.waitFor(lasting("second", 1));
  gate.waitFor(lasting("third", limits.gate_pass_ms_max));
  const first = gate.newestRecord;
  write();
  gate.waitFor(leave("next turn"));
  journal.flush();
  t.strictSame(left, ["first", "second"]);
  t.notOk(gate.isOpenFor(first), "a part of it has not left");
  t.notOk(gate.hasRoom);
  gate.waitFor(leave("behind"), first);
  later.shift()?.();
  t.strictSame(left, ["first", "second", "third"]);
  t.notOk(gate.hasRoom);
  later.shift()?.();
  t.strictSame(left, ["first", "second", "third", "behind", "next turn", "everything"]);
  t.ok(gate.isOpen);
  t.ok(gate.hasRoom);
  t.equal(later.length, 0);
});

/** Turns of several organizations in the order in which they ran, and when their records were handed over. */
function openedPasses(turnMs = 0) {
  const ran: string[] = [];
  const passes: (() => void)[] = [];
  let now = 0;
  const clock = { monotonic: () => now, soon: (pass: () => void) => void passes.push(pass) };
  const together = (work: () => void) => {
    try {
      work();
    } finally {
      ran.push("handed over");
    }
  };
  const turns = new TurnPasses({ clock, journal: { together } });
  const turn = (name: string, then: () => void = () => undefined) => {
    turns.add(() => {
      now += turnMs;
      ran.push(name);
      then();
    });
  };
  return { ran, turn, waiting: () => passes.length, pass: () => passes.shift()?.() };
}

t.test("[M7] organizations with commands have their turns in one pass, in order, and hand over once", async (t) => {
  const { ran, turn, waiting, pass } = openedPasses();
  turn("a", () => turn("a again"));
  turn("b");
  turn("c");
  t.equal(waiting(), 1);
  pass();
  t.strictSame(ran, ["a", "b", "c", "handed over"]);
  t.equal(waiting(), 1, "what came meanwhile has the next pass");
  pass();
  t.strictSame(ran.slice(4), ["a again", "handed over"]);
});

t.test("[M6] a turn that throws keeps no other organization from its turn", async (t) => {
  const { ran, turn, waiting, pass } = openedPasses();
  turn("a");
  turn("b", () => {
    throw new Error("damaged");
  });
  turn("c");
  t.throws(pass, /damaged/);
  t.strictSame(ran, ["a", "b", "handed over"]);
  t.equal(waiting(), 1);
  pass();
  t.strictSame(ran.slice(3), ["c", "handed over"]);
});

t.test("[S3] turn_pass_ms_max: long turns of many organizations are handed over in between", async (t) => {
  const { ran, turn, pass } = openedPasses(limits.turn_pass_ms_max / 2);
  for (const name of ["a", "b", "c"]) turn(name);
  pass();
  t.strictSame(ran, ["a", "b", "handed over", "c", "handed over"]);
});

t.test("an organization that no server serves needs no gate", async (t) => {
  const left: string[] = [];
  alwaysDurable.waitFor(() => void left.push("answer"));
  alwaysDurable.onceRoom(() => void left.push("turn"));
  t.strictSame(left, ["answer", "turn"]);
});
