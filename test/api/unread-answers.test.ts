/**
 * Answers that clients do not read (S3, E3): their memory is bounded per user and in total, for HTTP and sockets, and
 * other clients are served. Uses real processes, whose memory the kernel measures.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { Client } from "../support/client.ts";
import { startProgram } from "../support/process.ts";
import { connect, sayMany } from "../support/realtime.ts";
import { residentMib } from "../support/resident.ts";
import { temporaryFolder } from "../support/server.ts";
import { StalledReader } from "../support/stalled-reader.ts";

const mib = 1024 * 1024;
/** 27 kB each; an answer holds about 890 of them. */
const filler = "\u6f22".repeat(9000);
const messages = 850;
const people = 6;
const readersEach = 10;
/** Garbage from producing the answers, in addition to the buffered answers. */
const garbageMib = 400;
const query = `anchor=newest&num_before=${messages}&num_after=0&narrow=${encodeURIComponent('[["channel","long"]]')}`;

const { program, owner, url } = await startProgram(t, temporaryFolder(t));
await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "long" }] });
const contents = Array.from({ length: messages }, (_, index) => `${index} ${filler}`);
await sayMany(owner, "long", "fill", contents);
const crowd = await Promise.all(Array.from({ length: people }, (_, index) => createAccount(owner, `reader ${index}`)));

t.test("[S3, E3] unsent_bytes_max bounds unread HTTP answers, and others are served", async (t) => {
  const before = residentMib(program.pid);
  const readers = crowd.flatMap((person) =>
    Array.from({ length: readersEach }, () => StalledReader.get(person, `/messages?${query}`)),
  );
  t.teardown(() => {
    for (const reader of readers) reader.destroy();
  });
  const statuses = await Promise.all(readers.map(({ status }) => status));
  const grown = residentMib(program.pid) - before;
  t.comment(`${Math.round(grown)} MiB more`);
  t.ok(grown < limits.unsent_bytes_max / mib + garbageMib, `${Math.round(grown)} MiB more`);
  t.ok(statuses.includes(200), "some are answered");
  t.ok(statuses.includes(503), "and some refused");
  t.equal((await owner.get("/users/me")).status, 200, "others are served");
});

t.test("[S3, E3] unsent_bytes_max bounds unread answers to calls on sockets", async (t) => {
  const before = residentMib(program.pid);
  const sockets = await Promise.all(
    crowd.flatMap(({ authorization }) =>
      Array.from({ length: readersEach }, () => StalledReader.socket(url, authorization)),
    ),
  );
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  const params = { anchor: "newest", num_before: messages, num_after: 0, narrow: [["channel", "long"]] };
  await Promise.all(sockets.map((socket) => socket.ask({ type: "call", method: "GET", path: "/messages", params })));
  const grown = residentMib(program.pid) - before;
  t.comment(`${Math.round(grown)} MiB more`);
  t.ok(grown < limits.unsent_bytes_max / mib + garbageMib, `${Math.round(grown)} MiB more`);
  t.equal((await owner.get("/users/me")).status, 200, "others are served");
});

t.test("an answer of megabytes reaches a client that reads, followed by later events", async (t) => {
  const [reader] = crowd;
  if (reader === undefined) throw new Error("there is nobody");
  const socket = await connect(reader);
  t.teardown(() => socket.terminate());
  socket.ws.pause();
  const params = { anchor: "newest", num_before: messages, num_after: 0, narrow: [["channel", "long"]] };
  const pending = socket.ask({ type: "call", method: "GET", path: "/messages", params });
  const after = socket.ask({ type: "ping" });
  socket.ws.resume();
  const answer = await pending;
  t.match(answer, { type: "reply", result: "success" });
  t.equal(answer.messages.length, messages);
  t.equal((await after).type, "pong");
});

/** A text frame that announces this size, and all of its bytes but one. */
function halfSent(size: number): Buffer {
  const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(size, 6);
  return Buffer.concat([head, Buffer.alloc(size - 1, 0x20)]);
}

t.test("[S3] sockets_unauthenticated_max: incomplete frames before authentication use little memory", async (t) => {
  const before = residentMib(program.pid);
  const frame = halfSent(limits.ws_frame_bytes_hard_max);
  // Few enough to be made before the server closes the first of them, also on a busy machine.
  const count = limits.sockets_unauthenticated_per_address_max + 10;
  const attempts = Array.from({ length: count }, () => StalledReader.socket(url, ""));
  const sockets = await Promise.all(attempts);
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  const statuses = await Promise.all(sockets.map(({ status }) => status));
  const open = sockets.filter((_, index) => statuses[index] === 101);
  t.equal(open.length, limits.sockets_unauthenticated_per_address_max);
  t.equal(statuses.filter((status) => status === 503).length, count - open.length);
  for (const socket of open) socket.write(frame);
  // The server closes them at the authentication timeout, after everything they sent has arrived.
  await Promise.all(open.map((socket) => socket.readSome()));
  const grown = residentMib(program.pid) - before;
  const most = (limits.sockets_unauthenticated_per_address_max * limits.ws_frame_bytes_hard_max) / mib;
  t.ok(grown < most + 100, `${Math.round(grown)} MiB more`);
});

/** The server is another process, so the account is created over the API alone. */
async function createAccount(owner: Client, name: string): Promise<Client> {
  const email = `${name.toLowerCase().replaceAll(" ", ".")}@example.com`;
  const password = "correct horse battery";
  const made = await owner.post("/users", { email, password, full_name: name });
  if (made.status !== 200) throw new Error(`cannot create ${name}: ${JSON.stringify(made.body)}`);
  const { body } = await owner.anonymous().post("/fetch_api_key", { username: email, password });
  return new Client(owner.url, { email, key: body.api_key, userId: body.user_id });
}
