/**
 * Connections that leave their answers unread or their bodies unfinished (S3, E3): each is ended, alone, and others are served. How
 * much memory they may take in sum is in unread-answers.test.ts.
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

t.test("[S3] [E3] unsent_stall_ms_max: who takes nothing of an answer for so long is hung up on", async (t) => {
  const reader = StalledReader.get(owner, large);
  t.teardown(() => reader.destroy());
  t.equal(await reader.status, 200);
  // Whatever the kernel took, its buffers are full now.
  t.equal((await owner.get("/users/me")).status, 200);
  clock.advance(limits.unsent_stall_ms_max);
  const { body } = await owner.get(large);
  t.ok((await reader.whole()).length < JSON.stringify(body).length, "closed before it had all");
});

t.test("[S3] an answer that waits is whole when its client reads on", async (t) => {
  const reader = StalledReader.get(owner, large);
  t.teardown(() => reader.destroy());
  t.equal(await reader.status, 200);
  const { body } = await owner.get(large);
  const text = await reader.whole();
  t.strictSame(JSON.parse(text), body);
});

t.test("[S3] a connection whose answers are unread gets no more of them: the next request ends it", async (t) => {
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
    // One after the other: what arrives together is refused for another reason.
    await owner.get("/users/me");
  }
  t.ok(isClosed, `ended after ${sent} answers of 270 kB`);
});

t.test(
  "[S3] requests_in_flight_bytes_per_sender_max: bodies that are never finished leave room for others",
  async (t) => {
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
    t.equal((await owner.get("/users/me")).status, 200, "what needs no body is served");
    t.equal((await owner.post("/users/me/status", { status_text: "here" })).status, 200, "and so are small ones");
  },
);
