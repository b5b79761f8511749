/**
 * Many organizations on three nodes: created at one of them, reachable through each, taken over when a node is killed.
 * `ORGANIZATIONS=1000` prints the figures of docs/measurements.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import t from "tap";
import { Client } from "../support/client.ts";
import { HostClient } from "../support/http.ts";
import { type Program, runCli } from "../support/process.ts";
import { readZuliprc, temporaryFolder } from "../support/server.ts";
import { NatsCluster, natsObstacle } from "./nats.ts";
import { served, startNode, urlOf } from "./nodes.ts";

const count = Number(process.env["ORGANIZATIONS"] ?? 40);
const labels = Array.from({ length: count }, (_, index) => `o${index}`);
/** Between two looks. */
const pauseMs = 50;
/** A node that serves one organization has about 40. */
const idleFiles = 60;
const skip = natsObstacle() ?? false;

t.test("each of many organizations is served, and taken over", { skip, timeout: 3_600_000 }, async (t) => {
  const cluster = await NatsCluster.start(t);
  const folder = temporaryFolder(t);
  const nodes = ["a", "b", "c"].map((name) => ({ name, dataDir: join(folder, name) }));
  const programs: Program[] = [];
  let isOver = false;
  const urls: string[] = [];
  const start = async (index: number) => {
    const [{ name, dataDir }] = [nodes[index] as (typeof nodes)[number]];
    const environment = { LOG_LEVEL: "warn", CLUSTER_STREAMS: "16" };
    const program = startNode(t, cluster, { name, dataDir, environment });
    programs.push(program);
    void program.exited.then(({ code, stderr }) => isOver || t.comment(`${name} ended with ${code}: ${stderr}`));
    urls[index] = await urlOf(program);
  };
  const report = (what: string, since: number) => {
    const used = programs.map(({ pid }) => (existsSync(`/proc/${pid}/status`) ? usedBy(pid) : "ended")).join("; ");
    t.comment(`${what}: ${Math.round(performance.now() - since)} ms; ${used}`);
  };
  let since = performance.now();
  for (const index of nodes.keys()) await start(index);
  report("started", since);

  since = performance.now();
  const list = join(folder, "list");
  writeFileSync(list, labels.map((label) => JSON.stringify({ label, email: "eve@example.com" })).join("\n"));
  const { dataDir } = nodes[0] as (typeof nodes)[number];
  t.match(await runCli(t, dataDir, "create-realm", "--from", list), { code: 0 });
  report("created", since);
  for (const node of nodes) await once(() => realmsOf(node.dataDir) > count);
  report("followed", since);
  // Three files for each store that is open.
  for (const { pid } of programs) await once(() => filesOf(pid) < idleFiles);
  report("closed again", since);

  const askAll = async (what: string) => {
    for (const [index, url] of urls.entries()) {
      since = performance.now();
      let longestMs = 0;
      for (const label of labels) {
        const begunAt = performance.now();
        const { body } = await served(() => clientOf(url, dataDir, label).get("/users/me"));
        if (body.email !== "eve@example.com") t.fail(`${label} through ${url}: ${JSON.stringify(body)}`);
        longestMs = Math.max(longestMs, performance.now() - begunAt);
      }
      report(`${what}, each through ${nodes[index]?.name}, at most ${Math.round(longestMs)} ms`, since);
    }
  };
  await askAll("asked");

  since = performance.now();
  await programs.splice(1, 1)[0]?.end("SIGKILL");
  // All at once: each organization has to be opened.
  const took = labels.map(async (label) => {
    await once(async () => (await clientOf(urls[0] ?? "", dataDir, label).get("/users/me")).status === 200);
    return performance.now() - since;
  });
  const times = (await Promise.all(took)).toSorted((a, b) => a - b);
  t.comment(`a node was killed: the median organization answers after ${Math.round(times[count >> 1] ?? 0)} ms`);
  report("the last one", since);
  since = performance.now();
  await start(1);
  report("started again", since);
  await askAll("asked again");
  isOver = true;
});

function clientOf(url: string, dataDir: string, label: string): HostClient {
  const { email, key } = readZuliprc(join(dataDir, `zuliprc.${label}`));
  return new HostClient(new Client(url, { email, key, userId: 2 }), `${label}.example.com`);
}

async function once(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await wait(pauseMs);
}

function realmsOf(dataDir: string): number {
  return readdirSync(join(dataDir, "realms")).filter((name) => /^\d+$/.test(name)).length;
}

function filesOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function usedBy(pid: number): string {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  const cpu = (Number(fields[11]) + Number(fields[12])) / 100;
  return `${Math.round(kilobytes / 1024)} MB, ${cpu} s of CPU, ${filesOf(pid)} files`;
}
