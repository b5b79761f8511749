/** Requests and sockets that arrive at a node which does not serve the organization. */
import { randomBytes } from "node:crypto";
import t from "tap";
import type { Client } from "../support/client.ts";
import { temporaryFolder } from "../support/server.ts";
import { type Frame, Socket } from "../support/socket.ts";
import { NatsCluster, natsObstacle } from "./nats.ts";
import { clientAt, startNode, urlOf } from "./nodes.ts";

/** A socket with a queue. On a busy machine a node may seem to be gone for a moment; clients come back then. */
async function listening(client: Client): Promise<Socket> {
  for (;;) {
    const socket = new Socket(client.url, { as: client });
    await socket.opened();
    const registered = socket.ask({ type: "register", event_types: ["message"] }).then(() => true);
    if (await Promise.race([registered, socket.closed.then(() => false)])) return socket;
  }
}

const obstacle = natsObstacle();
if (obstacle !== null) t.plan(0, obstacle);
else {
  t.test("requests at a node that does not serve the organization", async (t) => {
    const cluster = await NatsCluster.start(t);
    // The first organization belongs to the node of this name as long as it is there.
    const b = { name: "b", dataDir: temporaryFolder(t), environment: { ACCESS_LOG: "true" } };
    const first = startNode(t, cluster, b);
    const owner = await clientAt(await urlOf(first), b.dataDir);
    const a = { name: "a", dataDir: temporaryFolder(t), environment: { TRUST_PROXY: "true" } };
    const edge = await clientAt(await urlOf(startNode(t, cluster, a)), b.dataDir);
    const post = (client: Client, content: string, headers = {}) =>
      client.post("/messages", { type: "channel", to: "kitchen", topic: "soup", content }, headers);
    await edge.post("/users/me/subscriptions", { subscriptions: [{ name: "kitchen" }] });

    await t.test("it forwards them, with their files, pages and polls", async (t) => {
      const me = await edge.get("/users/me");
      t.match([me.status, me.body], [200, { email: "owner@localhost" }]);
      const bytes = randomBytes(300_000);
      const form = new FormData();
      form.append("file", new Blob([bytes]), "soup.bin");
      const headers = { Authorization: edge.authorization };
      const uploaded = await fetch(`${edge.url}/api/v1/user_uploads`, { method: "POST", body: form, headers });
      t.equal(uploaded.status, 200);
      const { url } = (await uploaded.json()) as { url: string };
      const file = await fetch(`${edge.url}${url}`, { headers });
      t.ok(Buffer.from(await file.arrayBuffer()).equals(bytes), "a file is the same");
      const [ours, theirs] = await Promise.all([edge, owner].map(({ url }) => fetch(`${url}/`, { method: "HEAD" })));
      t.strictSame(
        [ours?.status, ours?.headers.get("content-length")],
        [theirs?.status, theirs?.headers.get("content-length")],
      );
      const { body } = await edge.post("/register", { event_types: ["message"] });
      const poll = edge.get("/events", { queue_id: body.queue_id, last_event_id: body.last_event_id });
      await post(owner, "ready");
      t.match((await poll).body, { result: "success", events: [{ type: "message" }] }, "a poll");
      const unknown = await edge.get("/nothing");
      t.match([unknown.status, unknown.body.code], [404, /./], "a refusal is passed on");
    });

    await t.test("it passes sockets on in both directions, with the owner's close codes", async (t) => {
      const socket = await listening(edge);
      await post(owner, "on a socket");
      await socket.event(({ message }: Frame) => message?.content === "on a socket");
      const packed = new Socket(edge.url, { as: edge, protocol: "msgpack" });
      await packed.opened();
      t.equal(packed.ws.protocol, "msgpack");
      const path = "/messages";
      const content = "soup ".repeat(1800);
      for (let count = 0; count < 40; count++) await post(owner, content);
      const params = { anchor: "newest", num_before: 40, num_after: 0, apply_markdown: false };
      const large = await socket.ask({ type: "call", method: "GET", path, params });
      t.equal(
        large.messages.filter((message: Frame) => message.content === content.trim()).length,
        40,
        "a large answer",
      );
      socket.ws.send("x".repeat(1_100_000));
      t.match(await socket.closed, { code: 1009, reason: "frame too large" });
      packed.close();
      await packed.closed;
      const stranger = new Socket(edge.url, { headers: { Authorization: "Basic bm9ib2R5Om5v" } });
      await t.rejects(stranger.opened(), /401/);
    });

    await t.test("only nodes say whose request it is", async (t) => {
      const said = { "X-Forwarded-For": "203.0.113.7", "X-Colloquy-Node": "guessed http 198.51.100.9" };
      await edge.get("/users/me", {}, { ...said, "X-Request-Id": "through-a" });
      await owner.get("/users/me", {}, { ...said, "X-Request-Id": "at-b" });
      await first.complained(/at-b/);
      const lines = first.stderr.split("\n");
      const found = lines.find((line) => line.includes("through-a"));
      t.match(found, /203\.0\.113\.7/, "a trusts its proxy, and b trusts a");
      const direct = lines.find((line) => line.includes("at-b"));
      t.match(direct, /127\.0\.0\.1/, "what a client says under the header of nodes does not count");
    });
  });
}
