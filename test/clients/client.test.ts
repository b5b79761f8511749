/** packages/client against a real server: calls, events by socket and by long poll, gaps, close codes. */
import t, { type Test } from "tap";
import { WebSocket } from "ws";
import { closeCodes as known } from "../../packages/client/src/close-codes.ts";
import {
  ApiError,
  type Client,
  connect,
  type EventOptions,
  type EventStream,
  type Gap,
} from "../../packages/client/src/node.ts";
import { closeCodes } from "../../schemas/close-codes.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

/** How events are read: Node 20 has no WebSocket of its own. */
const transports = { websocket: WebSocket, "long-poll": null } as const;

function clientOf(server: TestServer, webSocket: typeof WebSocket | null): Promise<Client> {
  return connect(server.running.zuliprc, { webSocket });
}

function say(client: Client, content: string) {
  return client.call("POST /messages", { type: "channel", to: "general", topic: "client", content });
}

for (const [name, webSocket] of Object.entries(transports)) {
  t.test(`[E1, E2] events arrive once and in order by ${name}`, async (t) => {
    const server = await startTestServer(t);
    const client = await clientOf(server, webSocket);
    const contents = Array.from({ length: 20 }, (_, index) => `message ${index}`);
    const onRegistered = async () => {
      for (const content of contents) await say(client, content);
    };
    const received: string[] = [];
    for await (const event of client.events({ event_types: ["message"], onRegistered })) {
      received.push(event.message.content);
      if (received.length === contents.length) break;
    }
    t.strictSame(received, contents);
  });

  t.test(`[E2] a stream by ${name} continues at a stored position`, async (t) => {
    const server = await startTestServer(t);
    const client = await clientOf(server, webSocket);
    const read = async (options: EventOptions<"message">, count: number) => {
      const events = client.events({ event_types: ["message"], ...options });
      const received: string[] = [];
      for await (const event of events) {
        received.push(event.message.content);
        if (received.length === count) break;
      }
      return { received, position: events.position };
    };
    const onRegistered = async () => {
      for (const content of ["one", "two", "three"]) await say(client, content);
    };
    const first = await read({ from: null, onRegistered }, 2);
    t.strictSame(first.received, ["one", "two"]);
    const second = await read({ from: first.position }, 2);
    t.strictSame(second.received, ["two", "three"], "the event of the interrupted body comes again");
  });

  t.test(`[E2] a lost queue is reported as a gap by ${name}, and a new one follows`, async (t) => {
    const server = await startTestServer(t);
    await gapIsReported(t, await clientOf(server, webSocket));
  });
}

async function gapIsReported(t: Test, client: Client): Promise<void> {
  const { queue_id: queueId, last_event_id: lastEventId } = await client.call("POST /register", {
    fetch_event_types: [],
  });
  await client.call("DELETE /events", { queue_id: queueId });
  const from = { queueId, lastEventId };
  await t.rejects(client.events({ from })[Symbol.asyncIterator]().next(), { name: "EventGapError" });
  const gaps: Gap[] = [];
  const onGap = async (gap: Gap) => {
    gaps.push(gap);
    await say(client, "after the gap");
  };
  for await (const event of client.events({ from, event_types: ["message"], onGap })) {
    t.equal(event.message.content, "after the gap");
    break;
  }
  t.equal(gaps.length, 1);
  t.not(gaps[0]?.state.queue_id, queueId);
}

t.test("the client knows what to do after each code that the server sends", async (t) => {
  for (const { code } of Object.values(closeCodes)) t.type(known[code], "string", String(code));
});

t.test("wrong credentials end the stream with an error", async (t) => {
  const server = await startTestServer(t);
  const client = await connect({ site: server.url, email: "nobody@example.com", key: "wrong" });
  await t.rejects(client.events()[Symbol.asyncIterator]().next(), { name: "ApiError", code: "INVALID_API_KEY" });
});

t.test("[D25] a call whose answer is lost is repeated under its key, and executed once", async (t) => {
  const server = await startTestServer(t);
  let answers = 0;
  const losing: typeof fetch = async (url, init) => {
    const answer = await fetch(url, init);
    if (++answers > 1) return answer;
    await answer.text();
    throw new TypeError("the answer was lost");
  };
  const client = await connect(server.running.zuliprc, { fetch: losing });
  const { id } = await say(client, "once");
  t.equal(answers, 2);
  const { messages } = await client.call("GET /messages", { anchor: "newest", num_before: 10, num_after: 0 });
  const ids = messages.filter(({ content }) => content.includes("once")).map((message) => message.id);
  t.strictSame(ids, [id]);
});

t.test("[spec 4] a channel whose name is a number is found by its name", async (t) => {
  const server = await startTestServer(t);
  const client = await connect(server.running.zuliprc);
  await client.call("POST /users/me/subscriptions", { subscriptions: [{ name: "1234" }] });
  const { id } = await client.call("POST /messages", { type: "channel", to: "1234", topic: "t", content: "x" });
  t.type(id, "number");
  const wrong = client.call("POST /messages", { type: "channel", to: "no such channel", topic: "t", content: "x" });
  await t.rejects(wrong, ApiError);
});

t.test("a stream without onRegistered registers its queue, too, and sees no gap", async (t) => {
  const server = await startTestServer(t);
  const client = await clientOf(server, WebSocket);
  const onConnected = () => {
    say(client, "the first").catch(() => undefined);
  };
  for await (const event of client.events({ event_types: ["message"], onConnected })) {
    t.equal(event.message.content, "the first");
    break;
  }
});

t.test("close() ends a stream that waits, and deletes its queue", async (t) => {
  const server = await startTestServer(t);
  for (const webSocket of Object.values(transports)) {
    const client = await clientOf(server, webSocket);
    const events: EventStream = client.events({ onRegistered: () => events.close() });
    for await (const _ of events) t.fail("no event");
  }
  t.equal(server.running.hubOf(server.running.host.realmOf("")).queueCount, 0);
});
