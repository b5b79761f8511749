/** A socket's messages behind the gate of its realm (M1): their order, and the memory of those that wait. */
import t from "tap";
import { Gates } from "../../src/journal/gate.ts";
import { GatedConnection } from "../../src/realtime/gated-connection.ts";
import { type SocketConnection, sendStatus } from "../../src/transport/transport.ts";
import { ManualJournal } from "../support/manual-journal.ts";

function opened() {
  const journal = new ManualJournal();
  const gates = new Gates({ journal, hasRoom: () => true, reportBug: (error) => Promise.reject(error) });
  journal.onDurable(() => gates.advanced());
  const gate = gates.open();
  const sent: string[] = [];
  const send = (data: string | Buffer) => {
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
  const connection = new GatedConnection(inner, gate);
  connection.onLeft(() => void sent.push("nothing waits"));
  const write = () => gate.appended(journal.append(1, Buffer.from("turn")), ["messages"]);
  return { journal, connection, sent, write };
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
  t.equal(connection.heldBytes, 0);
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
