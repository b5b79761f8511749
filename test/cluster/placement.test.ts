/** Organizations on several nodes: created while the cluster runs, moved under load, and taken from a node that stops. */
import { join } from "node:path";
import t from "tap";
import { Client } from "../support/client.ts";
import { HostClient } from "../support/http.ts";
import { runCli } from "../support/process.ts";
import { readZuliprc, temporaryFolder } from "../support/server.ts";
import { type Frame, Socket } from "../support/socket.ts";
import { NatsCluster, natsObstacle } from "./nats.ts";
import { clientAt, moveTo, runCluster, startNode, urlOf } from "./nodes.ts";
import { Posting } from "./posting.ts";

const obstacle = natsObstacle();
if (obstacle !== null) t.plan(0, obstacle);
else {
  t.test("organizations are created, moved and drained while clients use them", async (t) => {
    const cluster = await NatsCluster.start(t);
    // The first organization belongs to b, if there are a and b; the second one, too.
    const b = { name: "b", dataDir: temporaryFolder(t) };
    const a = { name: "a", dataDir: temporaryFolder(t) };
    const first = startNode(t, cluster, b);
    const atB = await clientAt(await urlOf(first), b.dataDir);
    const second = startNode(t, cluster, a);
    const atA = await clientAt(await urlOf(second), b.dataDir);
    const cli = (...args: string[]) => runCluster(t, cluster, ["colloquy.mjs", "cluster", ...args]);

    t.match(await runCli(t, a.dataDir, "create-realm", "sales", "--email", "eve@example.com"), { code: 0 });
    const { email, key } = readZuliprc(join(a.dataDir, "zuliprc.sales"));
    const eve = new HostClient(new Client(atB.url, { email, key, userId: 2 }), "sales.example.com");
    t.match((await eve.get("/users/me")).body, { email: "eve@example.com" }, "another node forwards to it at once");
    t.match(await runCli(t, b.dataDir, "create-realm", "sales", "--email", "eve@example.com"), { code: 1 });
    t.match(await moveTo(t, cluster, 2, "a"), { code: 0, stdout: "organization 2 is served by a\n" });
    const setRole = ["set-role", "eve@example.com", "owner", "--realm", "sales"];
    t.match(await runCli(t, b.dataDir, ...setRole), {
      code: 1,
      stderr: /another node serves organization sales \(number 2\): run the command there/,
    });
    // A node that is busy may say nothing in time.
    let status = JSON.parse((await cli("status", "--json")).stdout);
    while (status.nodes.length < 2) status = JSON.parse((await cli("status", "--json")).stdout);
    t.match(status, {
      warnings: Array,
      nodes: [{ node: "a", serves: 1, state: "ready" }, { node: "b" }],
      organizations: [{ id: 1 }, { id: 2, owner: { node: "a", serves: true, pinned_to: "a" }, turn: Number }],
    });
    let refused = await cli("move", "2", "z");
    while (!refused.stderr.includes("These do: a, b")) refused = await cli("move", "2", "z");
    t.match(refused, { code: 1, stderr: /Node z does not answer. These do: a, b/ });
    t.match(await cli("move", "9", "a"), { code: 1, stderr: /no organization 9/ });

    await atB.post("/users/me/subscriptions", { subscriptions: [{ name: "kitchen" }] });
    const queue = await atA.register({ event_types: ["message"] });
    const seen: string[] = [];
    let isOver = false;
    const listen = async (client: Client) => {
      let last = queue.last_event_id;
      while (!isOver) {
        const socket = new Socket(client.url, { as: client });
        t.teardown(() => socket.ws.terminate());
        const isOpen = await socket.opened().then(
          () => true,
          () => false,
        );
        if (!isOpen) continue;
        socket.send({ type: "resume", queue_id: queue.queue_id, last_event_id: last });
        const stopped = socket.event((event: Frame) => event.message?.content === "the end");
        await Promise.race([socket.closed, stopped]);
        for (const event of socket.events as Frame[]) {
          if (event.id <= last) t.fail(`event ${event.id} came twice`);
          last = event.id;
          if (event.type === "message") seen.push(event.message.content);
        }
        isOver = seen.includes("the end");
        socket.close();
      }
    };
    const listening = listen(atA);
    const posting = new Posting({ p: atA, q: atB });
    for (const node of ["a", "b", "a"]) {
      t.match(await moveTo(t, cluster, 1, node), { code: 0, stdout: `organization 1 is served by ${node}\n` });
      t.comment(`the longest post took ${Math.round(posting.longestMs)} ms`);
    }
    t.match(await cli("drain", "a"), { code: 0, stdout: "node a serves no organization\n" });
    let text = (await cli("status")).stdout;
    while (!text.includes("node a at ")) text = (await cli("status")).stdout;
    t.match(text, /node a at \S+: serves 0 organizations, draining/);
    t.match((await eve.get("/users/me")).body, { email: "eve@example.com" });
    t.match(await cli("drain", "a", "--end"), { code: 0 });
    await posting.end();
    await atA.say("kitchen", "soup", "the end");
    await listening;
    const found = seen.filter((content) => /^[pq] \d+$/.test(content)).toSorted();
    t.strictSame(found, posting.sent.toSorted(), "each event came once");
    t.match(await cli("unpin", "1"), { code: 0 });
    t.equal((await second.end("SIGTERM")).code, 0);
    t.match((await eve.get("/users/me")).body, { email: "eve@example.com" });
    t.equal((await first.end("SIGTERM")).code, 0);
  });
}
