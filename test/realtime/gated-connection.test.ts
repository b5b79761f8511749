/** A socket's messages behind the gate of its realm (M1): their order, and the memory of those that wait. */
import t from "tap";
import { GatedConnection } from "../../src/edge/realtime/gated-connection.ts";
import { type SocketConnection, sendStatus } from "../../src/edge/transport/transport.ts";
import { openManualGate } from "../support/manual-gate.ts";

function opened() {
  const { journal, gate, write } = openManualGate();
  const sent: string[] = [];
  const drops = new Set<string>();
  const send = (data: string | Buffer) => {
    if (drops.has(String(data))) return sendStatus.dropped;
    sent.push(String(data));
    return sendStatus.sent;
  };
  const inner: SocketConnection = {
    send,
    sendFirstFragment: send,
    sendFragment: send,
    sendLastFragment: send,
    getBufferedAmount: () => 0,
    end: (code) => void sent.push(`end ${code}`),
  };
  let onDropped = () => {};
  const connection = new GatedConnection(inner, gate, {
    drained: () => void sent.push("nothing waits"),
    dropped: () => onDropped(),
  });
  const passed = (work: () => void) => {
    connection.beginPassed();
    work();
    connection.endPassed();
  };
  return {
    journal,
    gate,
    connection,
    sent,
    drops,
    write,
    passed,
    ifDropped: (listener: () => void) => {
      onDropped = listener;
    },
  };
}

t.test("[M1] messages leave when what they show is durable, in order, and the end last", async (t) => {
  const { journal, connection, sent, write } = opened();
  t.equal(connection.send("before", false), sendStatus.sent);
  write();
  t.equal(connection.send("first", false), sendStatus.buffered);
  write();
  connection.send("second", false);
  connection.end(1001, "");
  t.strictSame(sent, ["before"]);
  t.equal(connection.getBufferedAmount(), "firstsecond".length, "what waits counts as buffered");
  journal.flush(1);
  t.strictSame(sent, ["before", "first"]);
  journal.flush();
  t.strictSame(sent, ["before", "first", "second", "end 1001", "nothing waits"]);
  t.equal(connection.waitingBytes, 0);
});

t.test("[M1] what has waited at the gate elsewhere leaves in its place in the order", async (t) => {
  const { journal, gate, connection, sent, write, passed } = opened();
  write();
  connection.send("answer before", false);
  gate.waitFor(() => passed(() => void connection.send("event", false)));
  connection.send("answer after", false);
  write();
  connection.send("of the next turn", false);
  t.strictSame(sent, []);
  journal.flush(1);
  t.strictSame(sent, ["answer before", "event", "answer after"]);
});

t.test("[S3] what waits is dropped at once when the client has gone", async (t) => {
  const { journal, connection, sent, write } = opened();
  write();
  connection.send("nobody reads this", false);
  connection.closed();
  t.equal(connection.getBufferedAmount(), 0);
  journal.flush();
  t.strictSame(sent, []);
});

t.test("[E3] a message that the connection drops behind the gate is reported, and none after it is sent", async (t) => {
  const { journal, connection, sent, drops, write, ifDropped } = opened();
  ifDropped(() => connection.end(4508, ""));
  drops.add("too much");
  write();
  for (const message of ["first", "too much", "would follow a gap"]) connection.send(message, false);
  journal.flush();
  t.strictSame(sent, ["first", "end 4508", "nothing waits"]);
  t.equal(connection.waitingBytes, 0);
});

t.test("[E3] what waits behind something that passed and could not be sent is not sent either", async (t) => {
  const { journal, gate, connection, sent, drops, write, passed } = opened();
  drops.add("too much");
  write();
  gate.waitFor(() =>
    passed(() => {
      if (connection.send("too much", false) === sendStatus.dropped) connection.end(4508, "");
    }),
  );
  write();
  connection.send("would follow a gap", false);
  journal.flush();
  t.strictSame(sent, ["end 4508", "nothing waits"]);
  t.equal(connection.waitingBytes, 0);
});

t.test("[E3] what was to leave before the end leaves, and nothing else", async (t) => {
  const { journal, gate, connection, sent, write, passed } = opened();
  write();
  gate.waitFor(() => passed(() => connection.sendPassed("event", false)));
  connection.end(4403, "");
  connection.sendPassed("after the end", false);
  journal.flush();
  t.strictSame(sent, ["event", "end 4403", "nothing waits"]);
});

t.test("[M9] an end whose cause is not durable waits for it, although a message before it is dropped", async (t) => {
  const { journal, connection, sent, drops, write } = opened();
  drops.add("too much");
  write();
  connection.send("too much", false);
  connection.send("would follow a gap", false);
  write();
  connection.end(4403, "");
  journal.flush(1);
  t.strictSame(sent, []);
  journal.flush();
  t.strictSame(sent, ["end 4403", "nothing waits"]);
});

t.test("[E3] a connection that was to end still ends when a message before it is dropped", async (t) => {
  const { journal, connection, sent, drops, write } = opened();
  drops.add("too much");
  write();
  connection.send("too much", false);
  connection.send("would follow a gap", false);
  connection.end(4403, "");
  journal.flush();
  t.strictSame(sent, ["end 4403", "nothing waits"]);
});
