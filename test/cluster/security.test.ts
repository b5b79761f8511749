/** Nodes and NATS servers that prove to each other who they are. */
import t from "tap";
import { certificateObstacle } from "../support/certificate.ts";
import type { Environment } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";
import { NatsCluster, natsObstacle } from "./nats.ts";
import { clientAt, runCluster, startNode, urlOf } from "./nodes.ts";
import { mutualTls, operatorMode } from "./secure-nats.ts";

const obstacle = natsObstacle() ?? certificateObstacle();
if (obstacle !== null) t.plan(0, obstacle);
else {
  t.test("nodes with certificates and a password use NATS servers that want both, others do not", async (t) => {
    const tls = mutualTls(t);
    const lines = [...tls.lines, 'authorization { user: colloquy, password: "p@ss:word" }'];
    const nats = await NatsCluster.start(t, { lines });
    const addresses = (user: string) => ({ CLUSTER_NATS: nats.url.replace("nats://", `nats://${user}@`) });
    const environment: Environment = { ...tls.environment, ...addresses("colloquy:p%40ss%3Aword") };
    const a = { name: "a", dataDir: temporaryFolder(t), environment };
    const first = startNode(t, nats, a);
    const owner = await clientAt(await urlOf(first), a.dataDir);
    t.equal((await owner.post("/users/me/subscriptions", { subscriptions: [{ name: "kitchen" }] })).status, 200);
    t.match(await runCluster(t, nats, ["colloquy.mjs", "cluster", "status"], environment), {
      code: 0,
      stdout: /organization 1: owner a/,
    });
    // A process of its own, with a connection of its own.
    t.match(
      await runCluster(t, nats, ["colloquy.mjs", "cluster", "snapshot"], { ...environment, DATA_DIR: a.dataDir }),
      {
        code: 0,
      },
    );
    const b = { name: "b", dataDir: temporaryFolder(t), environment };
    const there = await clientAt(await urlOf(startNode(t, nats, b)), a.dataDir);
    t.match((await there.get("/users/me/subscriptions")).body, { subscriptions: [{}, { name: "kitchen" }] });

    const refused = (changed: Environment) =>
      startNode(t, nats, { name: "c", dataDir: temporaryFolder(t), environment: { ...environment, ...changed } })
        .exited;
    const unusable = { code: 78, stderr: /^colloquy: No NATS server of CLUSTER_NATS can be used[^\n]*\n$/ };
    t.match(await refused(addresses("colloquy:wrong")), unusable, "another password");
    t.match(await refused({ CLUSTER_NATS_CERT_FILE: "", CLUSTER_NATS_KEY_FILE: "" }), unusable, "no certificate");
    t.match(await refused({ CLUSTER_NATS_CA_FILE: "" }), unusable, "servers that nobody vouches for");
    t.match(await refused({ CLUSTER_NATS_CA_FILE: "/nowhere" }), {
      code: 78,
      stderr: /CLUSTER_NATS_CA_FILE cannot be read/,
    });
  });

  t.test("a node uses a credentials file of NATS", async (t) => {
    const { lines, credentialsFile } = operatorMode(t);
    const nats = await NatsCluster.start(t, { lines });
    const a = {
      name: "a",
      dataDir: temporaryFolder(t),
      environment: { CLUSTER_NATS_CREDENTIALS_FILE: credentialsFile },
    };
    const node = startNode(t, nats, a);
    const owner = await clientAt(await urlOf(node), a.dataDir);
    t.equal((await owner.get("/users/me")).status, 200);
    t.equal((await node.end("SIGTERM")).code, 0);
    const without = await startNode(t, nats, { name: "b", dataDir: temporaryFolder(t) }).exited;
    t.match(without, { code: 78, stderr: /No NATS server of CLUSTER_NATS can be used/ });
  });
}
