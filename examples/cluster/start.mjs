/**
 * A cluster on this machine, to try what happens when a part of it dies: three NATS servers and three nodes of Colloquy on
 * loopback. `node examples/cluster/start.mjs` starts all of them, `node examples/cluster/start.mjs a` one again that died
 * (n1, n2, n3, a, b, c). Data is in examples/cluster/data. It needs `npm ci`, and Go if there is no nats-server yet.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const checkout = fileURLToPath(new URL("../..", import.meta.url));
const data = process.env.CLUSTER_EXAMPLE_DATA || fileURLToPath(new URL("data", import.meta.url));
/** The nodes have the three ports after it, the NATS servers those from 11 to 13, 21 to 23 and 31 to 33. */
const firstPort = Number(process.env.CLUSTER_EXAMPLE_PORT || 9990);
const password = "colloquy-example";
const natsVersion = "v2.15.2";
/** Each takes up to 1.2 seconds. */
const startAttemptsMax = 600;
const path = [process.env.PATH ?? "", join(checkout, ".nats")].join(delimiter);

const servers = ["n1", "n2", "n3"].map((name, index) => ({
  name,
  port: firstPort + 11 + index,
  routePort: firstPort + 21 + index,
  monitorPort: firstPort + 31 + index,
}));
const nodes = ["a", "b", "c"].map((name, index) => ({ name, port: firstPort + 1 + index }));

/** What was started before ends, too. */
async function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
  await end();
}

/** Says at once which program has a port that one of these needs. */
async function requirePorts(programs) {
  for (const { name, ...ports } of programs) {
    for (const port of [ports.port, ports.routePort, ports.monitorPort]) {
      if (port === undefined || (await isFree(port))) continue;
      await fail(
        `Port ${port} of ${name} is taken. Stop the program that has it, or set CLUSTER_EXAMPLE_PORT to a number behind which 33 ports are free.`,
      );
    }
  }
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** Takes a nats-server that is there, or builds one into .nats/. */
async function requireNats() {
  if (isNewEnough()) return;
  process.stdout.write(`Building nats-server ${natsVersion} into .nats/ ...\n`);
  const built = spawnSync("go", ["install", "-trimpath", `github.com/nats-io/nats-server/v2@${natsVersion}`], {
    env: { ...process.env, GOBIN: join(checkout, ".nats") },
    stdio: "inherit",
  });
  if (built.error !== undefined)
    await fail("There is no nats-server 2.15 or newer in PATH, and no Go to build one: install either, and try again.");
  if (built.status !== 0 || !isNewEnough()) await fail("nats-server cannot be built: see above.");
}

function isNewEnough() {
  const { stdout } = spawnSync("nats-server", ["--version"], { encoding: "utf8", env: { PATH: path } });
  const [, major = 0, minor = 0] = /v(\d+)\.(\d+)/.exec(stdout ?? "") ?? [];
  return Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 15);
}

function startServer({ name, port, routePort, monitorPort }) {
  const folder = join(data, name);
  mkdirSync(folder, { recursive: true });
  const routes = servers.map((server) => `nats://127.0.0.1:${server.routePort}`).join(", ");
  const file = join(folder, "nats.conf");
  writeFileSync(
    file,
    [
      `server_name: ${name}`,
      `listen: 127.0.0.1:${port}`,
      `http: 127.0.0.1:${monitorPort}`,
      `jetstream { store_dir: ${JSON.stringify(folder)}, sync_interval: always }`,
      `cluster { name: example, listen: 127.0.0.1:${routePort}, routes: [${routes}] }`,
      "",
    ].join("\n"),
  );
  return start(name, "nats-server", ["-c", file, "-l", join(folder, "nats.log")], { PATH: path });
}

function startNode({ name, port }) {
  const all = (portOf, scheme) => servers.map((server) => `${scheme}127.0.0.1:${portOf(server)}`).join(",");
  return start(name, process.execPath, [join(checkout, "colloquy.mjs")], {
    ...process.env,
    PORT: String(port),
    DATA_DIR: join(data, name),
    CLUSTER_NODE: name,
    // Only the node that creates the organization reads it.
    OWNER_PASSWORD: password,
    CLUSTER_NATS: `nats://${all((server) => server.port, "")}`,
    CLUSTER_NATS_MONITOR: all((server) => server.monitorPort, "http://"),
  });
}

const running = new Map();
let isEnding = false;

function start(name, program, args, environment) {
  // Each has a group of its own, so that Ctrl-C reaches them in the order that `end` chooses.
  const child = spawn(program, args, {
    cwd: checkout,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  running.set(name, child);
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      for (const line of text.split("\n").filter((one) => one !== ""))
        process.stdout.write(`${name}: ${shown(line)}\n`);
    });
  }
  child.once("error", (error) => {
    running.delete(name);
    void fail(`${name} cannot be started: ${error.message}`);
  });
  child.once("exit", (code, signal) => {
    running.delete(name);
    if (isEnding) return;
    process.stdout.write(
      `${name} ended (${signal ?? `code ${code}`}). Start it again: node examples/cluster/start.mjs ${name}\n`,
    );
    if (running.size === 0) process.exit(1);
  });
}

/** Lines of the log are JSON. */
function shown(line) {
  try {
    return JSON.parse(line).msg ?? line;
  } catch {
    return line;
  }
}

async function end() {
  if (isEnding) return;
  isEnding = true;
  for (const group of [nodes, servers]) {
    const ended = group.flatMap(({ name }) => {
      const child = running.get(name);
      if (child === undefined) return [];
      child.kill("SIGTERM");
      return [new Promise((resolve) => child.once("exit", resolve))];
    });
    await Promise.all(ended);
  }
  process.exit();
}

/** Waits until a program that was started answers. */
async function untilThere(name, url) {
  for (let attempt = 1; attempt <= startAttemptsMax; attempt++) {
    if (!running.has(name) && !isEnding) await fail(`${name} ended: see the lines above, and ${join(data, name)}`);
    if (await answers(url).catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await fail(`${name} does not answer at ${url}: see the lines above, and ${join(data, name)}`);
}

const answers = async (url) => (await fetch(url, { signal: AbortSignal.timeout(1000) })).ok;

process.on("SIGINT", end);
process.on("SIGTERM", end);
if (!existsSync(join(checkout, "node_modules"))) await fail("First run: npm ci");
await requireNats();
const [only] = process.argv.slice(2);
const known = [...servers, ...nodes].find(({ name }) => name === only);
if (only !== undefined) {
  if (known === undefined) await fail(`There is no ${only}: name one of n1, n2, n3, a, b, c, or none for all.`);
  await requirePorts([known]);
  if (servers.includes(known)) startServer(known);
  else startNode(known);
} else {
  await requirePorts([...servers, ...nodes]);
  for (const server of servers) startServer(server);
  for (const { name, monitorPort } of servers) await untilThere(name, `http://127.0.0.1:${monitorPort}/healthz`);
  // One after the other: the first one builds the program and creates the organization.
  for (const node of nodes) {
    startNode(node);
    await untilThere(node.name, `http://127.0.0.1:${node.port}/api/v1/server_settings`);
  }
  const pids = [...running].map(([name, { pid }]) => `${name} ${pid}`).join(", ");
  const nats = servers.map(({ port }) => `127.0.0.1:${port}`).join(",");
  const monitors = servers.map(({ monitorPort }) => `http://127.0.0.1:${monitorPort}`).join(",");
  process.stdout.write(`
The cluster is there. Process ids: ${pids}
Any node takes any request: ${nodes.map(({ port }) => `http://127.0.0.1:${port}`).join(", ")}
  Log in to the page as owner@localhost with the password ${password}.
  See which node owns the organization, and make a snapshot (give each command these two variables):
    export CLUSTER_NATS=nats://${nats} CLUSTER_NATS_MONITOR=${monitors}
    npm run -s cli -- cluster status
    DATA_DIR=${join(data, "a")} npm run -s cli -- cluster snapshot
  Lose a part: kill -9 and one of the process ids. Start it again: node examples/cluster/start.mjs and its name
  Stop everything: Ctrl-C. Begin anew: remove ${data}
docs/cluster.md walks through it.
`);
}
