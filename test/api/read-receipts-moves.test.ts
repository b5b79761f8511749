/**
 * Read receipts of moved messages (public API: get-read-receipts) list users who read the message, not users for whom
 * it counts as read.
 */
import t from "tap";
import type { Client } from "../support/client.ts";
import { quietly } from "../support/message-moves.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const [writer, reader, idler, outsider] = [
  await server.user("writer"),
  await server.user("reader"),
  await server.user("idler"),
  await server.user("outsider"),
];
const from = await owner.createChannel("from", [owner, writer, reader, idler]);
const to = await owner.createChannel("to", [owner, writer, reader, idler, outsider]);

const mark = (by: Client, id: number) => by.post("/messages/flags", { flag: "read", op: "add", messages: [id] });
const readersOf = async (id: number) => (await writer.get(`/messages/${id}/read_receipts`)).body.user_ids;

t.test("only users who marked the message as read are listed, not subscribers of its new channel", async (t) => {
  const id = await writer.say(from, "travels", "x");
  await mark(reader, id);
  t.strictSame(await readersOf(id), [reader.userId]);
  await owner.patch(`/messages/${id}`, { ...quietly, stream_id: to });
  t.strictSame(await readersOf(id), [reader.userId], "for the other subscriber it counts as read");
  await mark(idler, id);
  t.strictSame(await readersOf(id), [reader.userId, idler.userId]);
  await owner.patch(`/messages/${id}`, { ...quietly, topic: "renamed" });
  await owner.patch(`/messages/${id}`, { ...quietly, stream_id: from });
  t.strictSame(await readersOf(id), [reader.userId, idler.userId], "and back");
});
