/**
 * An organization that is moved MOVES times (4) between two nodes while a client posts through each: every post is there
 * once, and how long the clients waited at most is printed.
 */
import { setTimeout as wait } from "node:timers/promises";
import t from "tap";
import { moveRealm } from "../../src/cluster/wishes.ts";
import type { Client } from "../support/client.ts";
import { temporaryFolder } from "../support/server.ts";
import { NatsCluster, natsObstacle } from "./nats.ts";
import { clientAt, startNode, urlOf } from "./nodes.ts";

const moves = Number(process.env["MOVES"] ?? 4);
/** Between the posts of a client, and between two moves. */
const [postPauseMs, movePauseMs] = [10, 1000];

const obstacle = natsObstacle();
if (obstacle !== null) t.plan(0, obstacle);
else {
  t.test(`[M1] ${moves} moves of an organization lose and double no post`, async (t) => {
    const cluster = await NatsCluster.start(t);
    const [a, b] = ["a", "b"].map((name) => ({ name, dataDir: temporaryFolder(t) })) as [Node, Node];
    const atA = await clientAt(await urlOf(startNode(t, cluster, a)), a.dataDir);
    const atB = await clientAt(await urlOf(startNode(t, cluster, b)), a.dataDir);
    await atA.post("/users/me/subscriptions", { subscriptions: [{ name: "kitchen" }] });
    const nats = { servers: cluster.servers, name: "moves" };
    const sent: string[] = [];
    let longestMs = 0;
    let isPosting = true;
    const post = async (client: Client, name: string) => {
      for (let count = 0; isPosting; count++) {
        const content = `${name} ${count}`;
        const begunAt = performance.now();
        const params = { type: "channel", to: "kitchen", topic: "soup", content };
        const { status } = await client.post("/messages", params, { "Idempotency-Key": content });
        longestMs = Math.max(longestMs, performance.now() - begunAt);
        if (status !== 200) t.fail(`${content} got ${status}`);
        sent.push(content);
        await wait(postPauseMs);
      }
    };
    const posting = [post(atA, "p"), post(atB, "q")];
    const waits: number[] = [];
    const calm: number[] = [];
    await moveRealm(nats, 1, "a");
    for (let move = 0; move < moves; move++) {
      longestMs = 0;
      await wait(movePauseMs);
      calm.push(longestMs);
      longestMs = 0;
      await moveRealm(nats, 1, move % 2 === 0 ? "b" : "a");
      waits.push(longestMs);
    }
    isPosting = false;
    await Promise.all(posting);
    const found = new Map<string, number>();
    for (let anchor = 0, isOver = false; !isOver; ) {
      const params = {
        anchor,
        num_before: 0,
        num_after: 1000,
        narrow: [["channel", "kitchen"]],
        apply_markdown: false,
      };
      const { body } = await atB.get("/messages", params);
      const page = body as { messages: { id: number; content: string }[]; found_newest: boolean };
      for (const { content } of page.messages) found.set(content, (found.get(content) ?? 0) + 1);
      isOver = page.found_newest;
      anchor = (page.messages.at(-1)?.id ?? 0) + 1;
    }
    t.strictSame(
      sent.filter((content) => found.get(content) !== 1),
      [],
      "each post is there once",
    );
    t.comment(`longest wait for a post, each move: ${waits.map(Math.round).join(" ")} ms`);
    t.comment(`moves: ${shown(waits)}; seconds without a move: ${shown(calm)}`);
  });
}

interface Node {
  readonly name: string;
  readonly dataDir: string;
}

function shown(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  return `median ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms`;
}
