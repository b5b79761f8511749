/**
 * An organization that is moved MOVES times (4) between two nodes while a client posts through each: every post is there
 * once, and how long the clients waited at most is printed.
 */
import { setTimeout as wait } from "node:timers/promises";
import t from "tap";
import { moveRealm } from "../../src/durability/cluster/placement-requests.ts";
import { everything } from "../support/kept-messages.ts";
import { temporaryFolder } from "../support/server.ts";
import { NatsCluster, natsObstacle } from "./nats.ts";
import { clientAt, startNode, urlOf } from "./nodes.ts";
import { Posting } from "./posting.ts";

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
    const posting = new Posting({ p: atA, q: atB }, postPauseMs);
    const waits: number[] = [];
    const calm: number[] = [];
    /** Once more if the node is too busy to say in time that it is there. */
    const moveTo = async (node: string): Promise<void> => {
      const problem = await moveRealm(nats, 1, node).catch((error: Error) => error);
      if (problem === undefined) return;
      if (!problem.message.includes("does not answer")) throw problem;
      await moveTo(node);
    };
    await moveTo("a");
    for (let move = 0; move < moves; move++) {
      posting.longestMs = 0;
      await wait(movePauseMs);
      calm.push(posting.longestMs);
      posting.longestMs = 0;
      await moveTo(move % 2 === 0 ? "b" : "a");
      waits.push(posting.longestMs);
    }
    await posting.end();
    const found = (await everything(atB)).map(({ content }) => content).filter((content) => /^[pq] \d+$/.test(content));
    t.strictSame(found.toSorted(), posting.sent.toSorted(), "each post is there once");
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
