/**
 * Connections with unread answers or unfinished bodies (S3, E3): only they are closed, and others are served. The
 * memory of all of them together is tested in unread-answers.test.ts.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { sayMany } from "../support/realtime.ts";
import { startTestServer } from "../support/server.ts";
import { StalledReader } from "../support/stalled-reader.ts";

const clock = new ManualClock(Date.now());
const server = await startTestServer(t, { clock });
const { owner, url } = server;
await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "long" }] });
const filler = "\u6f22".repeat(9000);
const contents = Array.from({ length: 500 }, (_, index) => `${index} ${filler}`);
await sayMany(owner, "long", "fill", contents);
const large = "/messages?anchor=newest&num_before=500&num_after=0";

t.test("[S3, E3] unsent_stall_ms_max: a client that reads nothing of its answer is disconnected", async (t) => {
  const reader = StalledReader.get(owner, large);
  t.teardown(() => reader.destroy());
  t.equal(await reader.status, 200);
  // By now the kernel's buffers are full.
  t.equal((await owner.get("/users/me")).status, 200);
  clock.advance(limits.unsent_stall_ms_max);
  const { body } = await owner.get(large);
  t.ok((await reader.whole()).length < JSON.stringify(body).length, "closed before it was complete");
});

t.test("[S3] a pending answer arrives completely when its client resumes reading", async (t) => {
  const reader = StalledReader.get(owner, large);
  t.teardown(() => reader.destroy());
  t.equal(await reader.status, 200);
  const { body } = await owner.get(large);
  const text = await reader.whole();
  t.strictSame(JSON.parse(text), body);
});

t.test("[S3] a connection with an unread answer gets no other answer and is closed", async (t) => {
  const reader = new StalledReader(url);
  t.teardown(() => reader.destroy());
  const request = `GET ${"/api/v1/messages?anchor=newest&num_before=10&num_after=0"} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${owner.authorization}\r\n\r\n`;
  let isClosed = false;
  void reader.closed.then(() => {
    isClosed = true;
  });
  let sent = 0;
  for (; sent < 500 && !isClosed; sent++) {
    reader.write(request);
    // One after the other: requests that arrive together are rejected for another reason.
    await owner.get("/users/me");
  }
  if (server.running.transport === "native") {
    t.ok(isClosed, `closed by a request, after ${sent} answers of 270 kB`);
    return;
  }
  // Node lets requests wait while an answer is unread.
  clock.advance(limits.unsent_stall_ms_max);
  while (!isClosed) {
    // A client that does not read notices the end of the connection when it writes.
    reader.write(request);
    await owner.get("/users/me");
  }
  t.pass("closed with its stalled answer");
});

t.test("[S3] requests_in_flight_bytes_per_sender_max: unfinished bodies leave room for others", async (t) => {
  const size = limits.body_bytes_max;
  const count = Math.ceil(limits.requests_in_flight_bytes_per_sender_max / (size - 1)) + 3;
  const head = `POST /api/v1/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${owner.authorization}\r\nContent-Length: ${size}\r\n\r\n`;
  const beginning = Buffer.concat([Buffer.from(head), Buffer.alloc(size - 1, 0x78)]);
  const senders = Array.from({ length: count }, () => new StalledReader(url));
  t.teardown(() => {
    for (const sender of senders) sender.destroy();
  });
  for (const sender of senders) sender.write(beginning);
  const refused = await Promise.race(senders.map(({ status }) => status));
  t.equal(refused, 503);
  t.equal((await owner.get("/users/me")).status, 200, "a request without a body is served");
  t.equal((await owner.post("/users/me/status", { status_text: "here" })).status, 200, "and so are small ones");
});
