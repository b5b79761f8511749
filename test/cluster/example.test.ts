/** The cluster of examples/cluster, started with its one command; and its form for containers. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import t from "tap";
import { Client } from "../support/client.ts";
import { freePortRange } from "../support/ports.ts";
import { checkout, Program } from "../support/process.ts";
import { readZuliprc, temporaryFolder } from "../support/server.ts";
import { natsObstacle, natsPath } from "./nats.ts";

const skip = natsObstacle() ?? false;
/** The first one is not used. */
const portsOfExample = 34;

t.test("one command starts a cluster on loopback, whose nodes take any request, and stops it", { skip }, async (t) => {
  const data = temporaryFolder(t);
  const port = await freePortRange(portsOfExample);
  const program = new Program(t, process.execPath, [join(checkout, "examples/cluster/start.mjs")], {
    PATH: natsPath,
    CLUSTER_EXAMPLE_DATA: data,
    CLUSTER_EXAMPLE_PORT: String(port),
    CLUSTER_LEASE_MS: "3000",
  });
  const { email, key } = await program
    .printed(/The cluster is there\. Process ids: n1 \d+, .* c \d+\n/)
    .then(() => readZuliprc(join(data, "a", "zuliprc")));
  for (const node of [1, 2, 3]) {
    const client = new Client(`http://127.0.0.1:${port + node}`, { email, key, userId: 2 });
    t.match(await client.get("/users/me"), { status: 200, body: { user_id: 2 } }, `node ${node}`);
  }
  t.equal((await program.end("SIGTERM")).code, 0);
});

t.test("the example says which port is taken, and starts nothing", { skip }, async (t) => {
  const port = await freePortRange(portsOfExample);
  const other = createServer().listen(port + 22, "127.0.0.1");
  await once(other, "listening");
  t.teardown(() => other.close());
  const { code, stdout, stderr } = await new Program(
    t,
    process.execPath,
    [join(checkout, "examples/cluster/start.mjs")],
    { PATH: natsPath, CLUSTER_EXAMPLE_DATA: temporaryFolder(t), CLUSTER_EXAMPLE_PORT: String(port) },
  ).exited;
  t.match({ code, stdout, stderr }, { code: 1, stdout: "", stderr: `Port ${port + 22} of n2 is taken.` });
});

t.test("the containers have the settings that the documents name", async (t) => {
  const text = readFileSync(join(checkout, "examples/cluster/compose.yaml"), "utf8");
  for (const line of ["sync_interval: always", "CLUSTER_NATS: nats://n1:4222,n2:4222,n3:4222"]) t.match(text, line);
  for (const name of ["a", "b", "c"]) t.match(text, `CLUSTER_NODE: ${name}, CLUSTER_ADVERTISE: "http://${name}:9991"`);
});
