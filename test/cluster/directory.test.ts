/** What all nodes know, on real NATS servers. */
import t from "tap";
import { Directory } from "../../src/durability/cluster/directory.ts";
import { NatsCluster, natsObstacle } from "./nats.ts";

const obstacle = natsObstacle();
if (obstacle !== null) t.plan(0, obstacle);
else {
  t.test("of nodes that want the same organization, one becomes its owner", async (t) => {
    const cluster = await NatsCluster.start(t);
    const names = ["a", "b", "c"];
    const nodes = await Promise.all(
      names.map(async (name) => Directory.open(await cluster.connect(t, name), () => undefined)),
    );
    const [first] = nodes;
    if (first === undefined) throw new Error("no node");
    t.equal(new Set(nodes.map(({ key }) => key)).size, 1, "they have the same key");
    t.match(first.key, /^[\w-]{32}$/);
    for (let round = 0; round < 5; round++) {
      const after = first.owner(1)?.sequence ?? 0;
      const fact = (node: string) => ({ node, instance: node, epoch: round, label: "", hosts: [] });
      const won = await Promise.all(
        nodes.map((directory, index) => directory.put("owner", "1", fact(names[index] ?? ""), after)),
      );
      const winners = names.filter((_, index) => won[index]);
      t.equal(winners.length, 1);
      for (const directory of nodes) {
        await directory.refresh();
        t.match(directory.owner(1)?.value, { node: winners[0], epoch: round });
      }
    }
    await Promise.all(nodes.map((directory, index) => directory.wish("pin", "1", { node: names[index] ?? "" })));
    for (const directory of nodes) await directory.refresh();
    t.equal(new Set(nodes.map((directory) => directory.pin(1))).size, 1, "wishes of operators replace each other");
    const found = await Directory.find(await cluster.connect(t));
    t.equal(found?.owners().length, 1);
    found?.close();
    for (const directory of nodes) directory.close();
  });
}
