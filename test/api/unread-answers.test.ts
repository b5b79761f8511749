/**
 * Answers that nobody reads (S3, E3): what they take of memory is bounded, for one person and in sum, by HTTP and by sockets, and
 * whoever reads is served meanwhile. Real processes, whose memory the kernel counts.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { createAccount } from "../support/accounts.ts";
import { startProgram } from "../support/process.ts";
import { connect, sayMany } from "../support/realtime.ts";
import { residentMib } from "../support/resident.ts";
import { temporaryFolder } from "../support/server.ts";
import { StalledReader } from "../support/stalled-reader.ts";

const mib = 1024 * 1024;
/** 27 kB each; an answer holds some 890 of them. */
const filler = "\u6f22".repeat(9000);
const messages = 850;
const people = 6;
const readersEach = 10;
/** What making the answers leaves for the next collection, beside those that are held. */
const garbageMib = 400;
const query = `anchor=newest&num_before=${messages}&num_after=0&narrow=${encodeURIComponent('[["channel","long"]]')}`;

const { program, owner, url } = await startProgram(t, temporaryFolder(t));
await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "long" }] });
const contents = Array.from({ length: messages }, (_, index) => `${index} ${filler}`);
await sayMany(owner, "long", "fill", contents);
const crowd = await Promise.all(Array.from({ length: people }, (_, index) => createAccount(owner, `reader ${index}`)));

t.test("[S3] [E3] unsent_bytes_max: answers over HTTP that nobody reads take no more, others are served", async (t) => {
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

t.test("[S3] [E3] unsent_bytes_max: answers to calls on sockets that nobody reads take no more", async (t) => {
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
  t.ok(grown < limits.unsent_bytes_max / mib + garbageMib, `${Math.round(grown)} MiB more`);
  t.equal((await owner.get("/users/me")).status, 200, "others are served");
});

t.test(
  "[realtime, Bounds] an answer of megabytes reaches a client that reads, and what comes meanwhile follows",
  async (t) => {
    const [reader] = crowd;
    if (reader === undefined) throw new Error("there is nobody");
    const socket = await connect(reader);
    t.teardown(() => socket.terminate());
    socket.ws.pause();
    const params = { anchor: "newest", num_before: messages, num_after: 0, narrow: [["channel", "long"]] };
    const asked = socket.ask({ type: "call", method: "GET", path: "/messages", params });
    const after = socket.ask({ type: "ping" });
    socket.ws.resume();
    const answer = await asked;
    t.match(answer, { type: "reply", result: "success" });
    t.equal(answer.messages.length, messages);
    t.equal((await after).type, "pong");
  },
);

/** A text frame that says that it has so many bytes, and their beginning. */
function halfSent(size: number): Buffer {
  const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(size, 6);
  return Buffer.concat([head, Buffer.alloc(size - 1, 0x20)]);
}

t.test("[S3] sockets_unauthenticated_max: half-sent frames before authentication take little", async (t) => {
  const before = residentMib(program.pid);
  const frame = halfSent(limits.ws_frame_bytes_hard_max);
  const attempts = Array.from({ length: 600 }, () => StalledReader.socket(url, ""));
  const sockets = await Promise.all(attempts);
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  const statuses = await Promise.all(sockets.map(({ status }) => status));
  const open = sockets.filter((_, index) => statuses[index] === 101);
  t.equal(open.length, limits.sockets_unauthenticated_per_address_max);
  t.equal(statuses.filter((status) => status === 503).length, 600 - open.length);
  for (const socket of open) socket.write(frame);
  // They are hung up on when their time is over: whatever they sent has come by then.
  await Promise.all(open.map((socket) => socket.readSome()));
  const grown = residentMib(program.pid) - before;
  const most = (limits.sockets_unauthenticated_per_address_max * limits.ws_frame_bytes_hard_max) / mib;
  t.ok(grown < most + 100, `${Math.round(grown)} MiB more`);
});
