/**
 * erase-realm in a cluster that runs: every node removes what it has of the organization, one that was away does so at
 * its next start, one that starts empty does not restore it, and a node that is killed over it changes nothing of that.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import t, { type Test } from "tap";
import { isErased } from "../../src/durability/cluster/claim.ts";
import type { Nats } from "../../src/durability/cluster/connection.ts";
import { Directory } from "../../src/durability/cluster/directory.ts";
import { fetchMissingFiles } from "../../src/durability/cluster/missing-files.ts";
import { ObjectBucket } from "../../src/durability/cluster/object-bucket.ts";
import { RealmLog } from "../../src/durability/cluster/realm-log.ts";
import { Snapshots } from "../../src/durability/cluster/snapshots.ts";
import { openStreams, type Streams } from "../../src/durability/cluster/streams.ts";
import { type Breakage, brokenCheckout } from "../support/broken-checkout.ts";
import { Client } from "../support/client.ts";
import { HostClient } from "../support/http.ts";
import { runCli } from "../support/process.ts";
import { readZuliprc, temporaryFolder } from "../support/server.ts";
import { NatsCluster, natsObstacle } from "./nats.ts";
import { moveTo, runCluster, startNode, urlOf } from "./nodes.ts";

const obstacle = natsObstacle();

/** What a cluster has of organizations, seen from outside the nodes. */
class Shared {
  readonly #nats: Nats;
  readonly #streams: Streams;
  readonly #directory: Directory;

  private constructor(nats: Nats, streams: Streams, directory: Directory) {
    this.#nats = nats;
    this.#streams = streams;
    this.#directory = directory;
  }

  static async open(t: Test, cluster: NatsCluster): Promise<Shared> {
    const nats = await cluster.connect(t);
    const streams = await openStreams(nats, { streams: 2 });
    return new Shared(nats, streams, (await Directory.find(nats)) as Directory);
  }

  get files(): Promise<ObjectBucket> {
    return ObjectBucket.open(this.#nats, "files");
  }

  async putFile(name: string): Promise<void> {
    const bytes = async function* () {
      yield Buffer.from("a secret file");
    };
    await (await this.files).put(name, bytes);
  }

  log(id: number): RealmLog {
    return new RealmLog(this.#nats, this.#streams, id);
  }

  async isCleared(id: number): Promise<boolean> {
    await this.#directory.refresh();
    return this.#directory.owner(id)?.value.erased?.isCleared === true;
  }

  /** What is left of it: messages, snapshots, objects. */
  async left(id: number) {
    const log = this.log(id);
    const [first, last] = [await log.next(1), await log.last()];
    const snapshots = new Snapshots(this.#nats);
    const stores = (await (await snapshots.objects).names()).filter((name) => name.startsWith(`realm-${id}-`));
    const files = (await (await this.files).names()).filter((name) => name.startsWith(`${id}/`));
    return {
      messages: first?.sequence === last?.sequence && (await isErased(log)) ? "only the last claim" : "more",
      snapshots: (await snapshots.of(id)).snapshots.length,
      stores,
      files,
    };
  }
}

const nothing = { messages: "only the last claim", snapshots: 0, stores: [], files: [] };

function isGoneFrom(dataDir: string, id: number): boolean {
  const realms = join(dataDir, "realms");
  const erased = join(realms, `${id}.erased`);
  return !existsSync(join(realms, String(id))) && existsSync(erased) && readdirSync(erased).length === 0;
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await wait(50);
}

const erase = (label: string) => ["erase-realm", label, "--confirm", label] as const;

/** Owner of an organization whose host is `<label>.example.com`. */
function ownerAt(url: string, dataDir: string, label: string): HostClient {
  const { email, key } = readZuliprc(join(dataDir, `zuliprc.${label}`));
  return new HostClient(new Client(url, { email, key, userId: 2 }), `${label}.example.com`);
}

if (obstacle !== null) t.plan(0, obstacle);
else {
  t.test("a cluster erases it on every node, for ever", async (t) => {
    const cluster = await NatsCluster.start(t);
    const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => ({ name, dataDir: temporaryFolder(t) })) as [
      Node,
      Node,
      Node,
      Node,
    ];
    const atA = await urlOf(startNode(t, cluster, a));
    t.match(await runCli(t, a.dataDir, "create-realm", "sales", "--email", "eve@example.com"), { code: 0 });
    const secondUrl = await urlOf(startNode(t, cluster, b));
    const away = startNode(t, cluster, c);
    await urlOf(away);
    const shared = await Shared.open(t, cluster);
    const eve = ownerAt(atA, a.dataDir, "sales");
    await eve.say("general", "plans", "a secret");
    await shared.putFile("2/uploads/plan");
    t.match(await moveTo(t, cluster, 2, "a"), { code: 0 });
    for (const { dataDir } of [b, c]) await until(() => existsSync(join(dataDir, "realms", "2", "data.mdb")));
    for (const { name, dataDir } of [a, b]) {
      const environment = { DATA_DIR: dataDir, CLUSTER_NODE: name };
      await eve.say("general", "plans", `for the snapshot of ${name}`);
      t.match(await runCluster(t, cluster, ["colloquy.mjs", "cluster", "snapshot", "2"], environment), { code: 0 });
    }
    t.ok((await shared.left(2)).snapshots > 0);
    t.match(await runCli(t, a.dataDir, ...erase("sales")), { code: 1, stderr: /sales is active/ });
    t.match(await runCli(t, a.dataDir, "deactivate-realm", "sales"), { code: 0 });
    await away.end("SIGKILL");

    await until(async () => (await runCli(t, b.dataDir, ...erase("sales"))).stderr.includes("(node a)"));
    t.match(await runCli(t, b.dataDir, ...erase("sales")), {
      code: 1,
      stderr: /another node serves organization sales \(number 2\): run the command there \(node a\)/,
    });
    t.match(await eve.get("/users/me"), { status: 401, body: { code: "REALM_DEACTIVATED" } }, "it is still there");
    t.match(await runCli(t, a.dataDir, ...erase("sales")), { code: 0, stdout: "organization sales is erased\n" });
    t.ok(isGoneFrom(a.dataDir, 2), "from the disk of its owner");
    t.notOk(existsSync(join(a.dataDir, "zuliprc.sales")));
    t.strictSame(await shared.left(2), nothing, "from the streams and the object store");
    await until(() => isGoneFrom(b.dataDir, 2));
    t.match(await eve.get("/users/me"), { status: 401, body: { code: "INVALID_API_KEY" } });
    const status = await runCluster(t, cluster, ["colloquy.mjs", "cluster", "status", "--json"]);
    t.match(JSON.parse(status.stdout), { organizations: [{ id: 1 }] });
    t.equal(JSON.parse(status.stdout).organizations.length, 1);
    t.match(await moveTo(t, cluster, 2, "b"), { code: 1, stderr: /has no organization 2/ });

    t.ok(existsSync(join(c.dataDir, "realms", "2", "data.mdb")), "a node that was away has it");
    await urlOf(startNode(t, cluster, c));
    t.ok(isGoneFrom(c.dataDir, 2), "until its next start");
    await urlOf(startNode(t, cluster, d));
    t.ok(isGoneFrom(d.dataDir, 2), "one that starts empty does not restore it");
    t.match(await runCli(t, d.dataDir, "create-realm", "sales", "--email", "adam@example.com"), { code: 0 });
    const adam = ownerAt(secondUrl, d.dataDir, "sales");
    t.match((await adam.get("/users/me")).body, { email: "adam@example.com" }, "its label is free");
    await until(() => existsSync(join(b.dataDir, "realms", "3", "data.mdb")));
    t.ok(isGoneFrom(d.dataDir, 2), "its number is not used again");

    // A node that was killed while it sent something.
    await shared.putFile("2/uploads/late");
    const nats = { servers: cluster.servers, name: "care" };
    await fetchMissingFiles({ nats, dataDir: a.dataDir, realmIds: [1], now: Date.now() });
    t.strictSame(await shared.left(2), nothing, "what comes late is removed with the next care");
  });

  t.test("[M1] an erasure that is killed is finished by the nodes that are left, or has not begun", async (t) => {
    const cluster = await NatsCluster.start(t);
    const program = brokenCheckout(t, kills);
    const [a, b] = [
      { name: "a", dataDir: temporaryFolder(t) },
      { name: "b", dataDir: temporaryFolder(t) },
    ];
    const start = async (moment: string) => {
      const started = startNode(t, cluster, { ...a, program, environment: { KILL_AT: moment } });
      return { started, url: await urlOf(started) };
    };
    let atA = await start("never");
    const atB = await urlOf(startNode(t, cluster, b));
    const shared = await Shared.open(t, cluster);
    for (const [index, [moment, isThere]] of moments.entries()) {
      const [id, label] = [index + 2, `o${index}`];
      t.match(await runCli(t, b.dataDir, "create-realm", label, "--email", "eve@example.com"), { code: 0 });
      const eve = ownerAt(atB, b.dataDir, label);
      await eve.say("general", "plans", "a secret");
      await shared.putFile(`${id}/uploads/plan`);
      await atA.started.end("SIGKILL");
      atA = await start(moment);
      t.match(await moveTo(t, cluster, id, "a"), { code: 0 });
      const environment = { DATA_DIR: a.dataDir, CLUSTER_NODE: "a" };
      t.match(await runCluster(t, cluster, ["colloquy.mjs", "cluster", "snapshot", String(id)], environment), {
        code: 0,
      });
      t.match(await runCli(t, a.dataDir, "deactivate-realm", label), { code: 0 });
      t.not((await runCli(t, a.dataDir, ...erase(label))).code, 0, moment);
      t.equal((await atA.started.exited).signal, "SIGKILL");
      if (isThere) {
        await until(async () => (await runCli(t, b.dataDir, "reactivate-realm", label)).code === 0);
        t.equal((await eve.get("/users/me")).status, 200, `${moment}: it is there as before`);
      } else {
        await until(() => shared.isCleared(id));
        t.strictSame(await shared.left(id), nothing, moment);
        await until(() => isGoneFrom(b.dataDir, id));
      }
      atA = await start("never");
      t.equal(isGoneFrom(a.dataDir, id), !isThere, `${moment}: the next start knows it`);
      t.equal(isGoneFrom(b.dataDir, id), !isThere);
    }
  });
}

interface Node {
  readonly name: string;
  readonly dataDir: string;
}

/** Where a node is killed, and whether the organization exists then. */
const moments = [
  ["before the directory has it", true],
  ["after the directory has it", false],
  ["after the root has it", false],
  ["after the last claim", false],
  ["after the purge", false],
  ["after the snapshots", false],
  ["after everything", false],
] as const;

function killAt(moment: (typeof moments)[number][0]): string {
  return `if (process.env["KILL_AT"] === "${moment}") process.kill(process.pid, "SIGKILL");`;
}

const before = (file: string, moment: (typeof moments)[number][0], from: string): Breakage => ({
  file: `src/durability/cluster/${file}.ts`,
  from,
  to: `${killAt(moment)} ${from}`,
});

const kills: readonly Breakage[] = [
  before("realm-placement", "before the directory has it", "const isErased = await directory.erase("),
  before("member", "after the directory has it", "await this.#parts.erasures.remove("),
  before("erasures", "after the root has it", "await removeErased("),
  before(
    "realm-log",
    "after the last claim",
    "await requested(this.#nats, () =>\n      this.#nats.manager.streams.purge(",
  ),
  before("erasures", "after the purge", "await new Snapshots("),
  before("erasures", "after the snapshots", "const files = await ObjectBucket.open("),
  before("erasures", "after everything", "const fact = directory.owner(id);"),
];
