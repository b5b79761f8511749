/** The owner of an organization is killed while clients use it through another node: that node takes over. */
import t from "tap";
import { closeCodes } from "../../packages/client/src/close-codes.ts";
import { until } from "../support/realtime.ts";
import { temporaryFolder } from "../support/server.ts";
import { type Frame, Socket } from "../support/socket.ts";
import { NatsCluster, natsObstacle } from "./nats.ts";
import { clientAt, startNode, urlOf } from "./nodes.ts";

/** @returns false if the upgrade is refused */
function isOpened(socket: Socket): Promise<boolean> {
  return socket.opened().then(
    () => true,
    () => false,
  );
}

const obstacle = natsObstacle();
if (obstacle !== null) t.plan(0, obstacle);
else {
  t.test("clients of another node lose and repeat nothing when the owner is killed", async (t) => {
    const cluster = await NatsCluster.start(t);
    const b = { name: "b", dataDir: temporaryFolder(t) };
    const first = startNode(t, cluster, b);
    const owner = await clientAt(await urlOf(first), b.dataDir);
    const second = startNode(t, cluster, { name: "a", dataDir: temporaryFolder(t) });
    const edge = await clientAt(await urlOf(second), b.dataDir);
    await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "kitchen" }] });
    const { body: queue } = await edge.post("/register", { event_types: ["message"] });

    /** Contents in the order in which a client on a socket saw them; it resumes wherever it is told to. */
    const seen: string[] = [];
    const codes: number[] = [];
    let isOver = false;
    let live: Socket | null = null;
    const listen = async () => {
      let last: number = queue.last_event_id;
      while (!isOver) {
        const socket = new Socket(edge.url, { as: edge });
        live = socket;
        t.teardown(() => socket.ws.terminate());
        const closed = socket.closed.then(({ code }) => code);
        if (!(await isOpened(socket))) continue;
        socket.send({ type: "resume", queue_id: queue.queue_id, last_event_id: last });
        codes.push(await closed);
        for (const event of socket.events as Frame[]) {
          if (event.id <= last) t.fail(`event ${event.id} came twice`);
          last = event.id;
          if (event.type === "message") seen.push(event.message.content);
        }
      }
    };
    const listening = listen();

    const acknowledged: string[] = [];
    let killedAt = 0;
    let longestMs = 0;
    /** Repeats each post under its key until it is answered with 200, as clients do. */
    const post = async (client: typeof edge, content: string) => {
      const begunAt = performance.now();
      for (;;) {
        const params = { type: "channel", to: "kitchen", topic: "soup", content };
        const sent = await client.post("/messages", params, { "Idempotency-Key": content }).catch(() => null);
        longestMs = Math.max(longestMs, performance.now() - begunAt);
        if (sent?.status === 200) return acknowledged.push(content);
        if (sent !== null) t.equal(sent.status, 503);
      }
    };
    const poster = async (name: string) => {
      for (let count = 0; count < 80; count++) {
        await post(edge, `${name} ${count}`);
        if (acknowledged.length > 120 && killedAt === 0) {
          killedAt = performance.now();
          void first.end("SIGKILL");
        }
      }
    };
    await Promise.all(["p", "q", "r", "s"].map(poster));
    t.comment(`the longest post took ${Math.round(longestMs)} ms`);

    const { body } = await edge.get("/messages", { anchor: "oldest", num_before: 0, num_after: 1000, narrow: [] });
    const contents = (body.messages as { content: string }[])
      .map(({ content }) => content.replace(/<\/?p>/g, ""))
      .filter((content) => /^[pqrs] \d+$/.test(content));
    t.strictSame(contents.toSorted(), acknowledged.toSorted(), "each message is there once");

    // It may be on its way back to the new owner.
    const isLast = (event: Frame) => event.message?.content === contents.at(-1);
    await until(() => seen.includes(contents.at(-1) ?? "") || live?.events.some(isLast) === true);
    isOver = true;
    const again = startNode(t, cluster, b);
    await urlOf(again);
    t.equal((await second.end("SIGTERM")).code, 0, "the second owner hands over and stops");
    await listening;
    const found = seen.filter((content) => /^[pqrs] \d+$/.test(content));
    t.strictSame(found, contents, "the client on a socket saw each message once, in order");
    t.ok(codes.includes(1001), "it was told to reconnect");
    t.ok(
      codes.every((code) => closeCodes[code] === "resume"),
      `and could resume after each end: ${codes}`,
    );
    const back = await clientAt(await urlOf(again), b.dataDir);
    const { body: after } = await back.get("/messages", { anchor: "newest", num_before: 1, num_after: 0, narrow: [] });
    t.match(after, { messages: [{ content: `<p>${contents.at(-1)}</p>` }] }, "the first node has everything again");
    t.equal((await again.end("SIGTERM")).code, 0);
  });
}
