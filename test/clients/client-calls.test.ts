/** Calls of packages/client over the socket of its event stream, and over HTTP when the socket cannot carry them. */
import t, { type Test } from "tap";
import { WebSocket } from "ws";
import { type Client, connect, type EventStream, type WebSocketClass } from "../../packages/client/src/node.ts";
import { callLimits } from "../../packages/client/src/socket-calls.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

interface Live {
  readonly server: TestServer;
  readonly client: Client;
  readonly events: EventStream;
  /** Paths of the HTTP requests since the socket was open. */
  readonly requests: string[];
  /** Resolves when the server has accepted a socket the next time. */
  connected(): Promise<void>;
}

/** A client that reads its events. */
async function startLive(t: Test, webSocket: WebSocketClass = WebSocket): Promise<Live> {
  const server = await startTestServer(t);
  const requests: string[] = [];
  const counting: typeof fetch = (url, init) => {
    requests.push(new URL(String(url)).pathname.replace("/api/v1", ""));
    return fetch(url, init);
  };
  const client = await connect(server.running.zuliprc, { webSocket, fetch: counting, callsOverSocket: true });
  const waiting: (() => void)[] = [];
  const connected = () => new Promise<void>((resolve) => waiting.push(resolve));
  const first = connected();
  const onConnected = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  const events = client.events({ event_types: ["message"], onConnected });
  const reading = (async () => {
    for await (const _ of events);
  })();
  t.teardown(() => {
    events.close();
    return reading;
  });
  await first;
  t.strictSame(requests, ["/register"], "before, there is only HTTP");
  requests.length = 0;
  return { server, client, events, requests, connected };
}

function say(client: Client, content: string, idempotencyKey?: string) {
  const key = idempotencyKey === undefined ? {} : { idempotencyKey };
  return client.call("POST /messages", { type: "channel", to: "general", topic: "calls", content }, key);
}

async function idsOf(client: Client, content: string): Promise<number[]> {
  const { messages } = await client.call("GET /messages", { anchor: "newest", num_before: 50, num_after: 0 });
  return messages.filter((one) => one.content.includes(content)).map(({ id }) => id);
}

t.test("calls use the socket while it is open; their answers and errors are those of HTTP", async (t) => {
  const { client, requests } = await startLive(t);
  const { id } = await say(client, "over the socket");
  t.strictSame(await idsOf(client, "over the socket"), [id]);
  const { topics } = await client.call("GET /users/me/{stream_id}/topics", { stream_id: 1 });
  t.ok(topics.some(({ name }) => name === "calls"));
  await client.call("PATCH /messages/{message_id}", { message_id: id, topic: "100% / more?" });
  const missing = client.call("GET /messages/{message_id}", { message_id: 999 });
  await t.rejects(missing, { name: "ApiError", status: 400, code: "BAD_REQUEST" });
  const forbidden = client.call("POST /users/me/subscriptions", { subscriptions: [{ name: "x".repeat(300) }] });
  await t.rejects(forbidden, { name: "ApiError", status: 400 });
  // A text that looks like JSON stays a text.
  await client.call("POST /users/me/subscriptions", { subscriptions: [{ name: "1234" }] });
  t.type((await client.call("POST /messages", { type: "channel", to: "1234", topic: "t", content: "7" })).id, "number");
  t.strictSame(requests, []);
});

t.test("[D25] a key names one request, whether it comes over the socket or over HTTP", async (t) => {
  const { server, client, requests } = await startLive(t);
  const { id } = await say(client, "once", "the same");
  const other = await connect(server.running.zuliprc);
  t.equal((await say(other, "once", "the same")).id, id);
  t.strictSame(requests, []);
  t.strictSame(await idsOf(client, "once"), [id]);
});

/** Closes the connection instead of passing on the first answer to a call. No other connection opens. */
class Losing extends WebSocket {
  static losses = 1;
  constructor(url: string) {
    super(Losing.losses > 0 ? url : "ws://127.0.0.1:9/");
  }
  override addEventListener(...[type, listener, ...rest]: Parameters<WebSocket["addEventListener"]>): void {
    if (type !== "message") {
      super.addEventListener(type, listener, ...rest);
      return;
    }
    super.addEventListener("message", (event) => {
      if (Losing.losses > 0 && String(event.data).includes('"call-')) {
        Losing.losses--;
        this.terminate();
      } else (listener as (event: { data: unknown }) => void)(event);
    });
  }
}

t.test("[D25] a call whose socket closes before the answer is repeated over HTTP, and executed once", async (t) => {
  const { client, requests } = await startLive(t, Losing as unknown as WebSocketClass);
  const { id } = await say(client, "lost");
  t.equal(Losing.losses, 0);
  t.ok(requests.includes("/messages"));
  t.strictSame(await idsOf(client, "lost"), [id]);
});

t.test("[S3] what does not fit into a frame, or waits beyond the bound, goes over HTTP", async (t) => {
  const { client, requests } = await startLive(t);
  const render = (content: string) => client.call("POST /messages/render", { content }, { retryMs: 0 });
  await render("x".repeat(callLimits.frame_characters_max));
  t.strictSame(requests, ["/messages/render"]);
  requests.length = 0;
  await Promise.all(Array.from({ length: callLimits.pending_max + 2 }, (_, index) => render(`text ${index}`)));
  t.equal(requests.length, 2);
});

t.test("[E2] a connection that is left is replaced by another, which continues", async (t) => {
  const { client, events, requests, connected } = await startLive(t);
  const again = connected();
  events.renew();
  await again;
  const { id } = await say(client, "after");
  t.strictSame(await idsOf(client, "after"), [id]);
  t.strictSame(requests, [], "the queue is the same one");
});

t.test("a call that is aborted rejects, and its late reply is ignored", async (t) => {
  const { client, requests } = await startLive(t);
  const end = new AbortController();
  const call = client.call("GET /users/me", {}, { signal: end.signal });
  end.abort(new Error("enough"));
  await t.rejects(call, { message: "enough" });
  t.type((await client.call("GET /users/me")).user_id, "number");
  t.strictSame(requests, []);
});
