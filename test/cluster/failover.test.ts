/** Two nodes of a cluster as real processes: one serves, the other follows and takes over. */
import t from "tap";
import { temporaryFolder } from "../support/server.ts";
import { NatsCluster, natsObstacle } from "./nats.ts";
import { clientAt, startNode, urlOf } from "./nodes.ts";

const obstacle = natsObstacle();
if (obstacle !== null) t.plan(0, obstacle);
else {
  t.test("[cluster] a standby has everything that was acknowledged, once, when the owner is killed", async (t) => {
    const cluster = await NatsCluster.start(t);
    const a = { name: "a", dataDir: temporaryFolder(t) };
    const b = { name: "b", dataDir: temporaryFolder(t) };
    const first = startNode(t, cluster, a);
    const owner = await clientAt(await urlOf(first), a.dataDir);
    const second = startNode(t, cluster, b);
    await second.complained(/standby: node a owns the organizations/);
    await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "kitchen" }] });
    const { body: queue } = await owner.post("/register", { event_types: ["message"] });
    const { queue_id, last_event_id } = queue as { queue_id: string; last_event_id: number };

    const acknowledged: number[] = [];
    let isKilled = false;
    const poster = async (name: string) => {
      for (let count = 0; !isKilled; count++) {
        const content = `${name} ${count}`;
        const sent = await owner
          .post("/messages", { type: "channel", to: "kitchen", topic: name, content })
          .catch(() => null);
        if (sent?.status === 200) acknowledged.push((sent.body as { id: number }).id);
        if (acknowledged.length > 200 && !isKilled) {
          isKilled = true;
          killedAt = performance.now();
          void first.end("SIGKILL");
        }
      }
    };
    let killedAt = 0;
    await Promise.all(["p", "q", "r", "s"].map(poster));
    const url = await urlOf(second);
    t.comment(`the standby served ${Math.round(performance.now() - killedAt)} ms after the kill`);

    const there = await clientAt(url, a.dataDir);
    const { body } = await there.get("/messages", { anchor: "oldest", num_before: 0, num_after: 1000, narrow: [] });
    const messages = (body as { messages: { id: number; content: string }[] }).messages;
    const ids = messages.map(({ id }) => id);
    t.strictSame(
      acknowledged.filter((id) => !ids.includes(id)),
      [],
      `each of ${acknowledged.length} acknowledged messages is there`,
    );
    t.equal(new Set(messages.map(({ content }) => content)).size, messages.length, "nothing is doubled");
    const events = await there.get("/events", { queue_id, last_event_id, dont_block: true });
    const received = (events.body as { events: { message?: { id: number } }[] }).events.flatMap(
      ({ message }) => message?.id ?? [],
    );
    t.strictSame(
      received,
      ids.filter((id) => received.includes(id)),
      "in order",
    );
    t.strictSame(
      acknowledged.filter((id) => !received.includes(id)),
      [],
      "a queue of the owner resumes on the standby without a gap",
    );

    const again = startNode(t, cluster, a);
    await again.complained(/standby: node b owns the organizations/);
    const sent = await there.post("/messages", { type: "channel", to: "kitchen", topic: "p", content: "from b" });
    t.equal(sent.status, 200);
    t.equal((await second.end("SIGTERM")).code, 0, "the owner stops in order");
    const back = await clientAt(await urlOf(again), a.dataDir);
    const after = await back.get("/messages", { anchor: "newest", num_before: 1, num_after: 0, narrow: [] });
    t.match(after.body, { messages: [{ content: /from b/ }] }, "the first node has it");
    t.equal((await again.end("SIGTERM")).code, 0);
  });
}
