/** The network of the nemesis does what it says: what is cut vanishes, nothing is reset, and nothing of it stays behind. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import t from "tap";
import { checkout, Program } from "../support/process.ts";
import { Namespaces, namespacesObstacle } from "./namespaces.ts";

const skip = namespacesObstacle() ?? false;

/** Says what it hears, and answers with the same. */
const answering = `require("node:net").createServer((socket) => socket.on("data", (bytes) => {
  process.stdout.write("heard " + bytes);
  socket.write(bytes);
})).listen(7000, "0.0.0.0", () => console.log("listening"))`;

/** Says a number ten times a second over one connection. */
const asking = (address: string) => `let count = 0;
const socket = require("node:net").connect(7000, "${address}", () => setInterval(() => socket.write(++count + "\\n"), 100));
socket.on("data", (bytes) => process.stdout.write("" + bytes));
socket.on("close", () => console.log("closed"));
socket.on("error", (error) => console.log(error.code))`;

t.test("what is cut vanishes in one direction or in both, and arrives afterwards", { skip }, async (t) => {
  const network = await Namespaces.open(t);
  const [a, b] = [network.add("a"), network.add("b")];
  const start = (within: readonly string[], program: string) => {
    const [command = "", ...args] = [...within, process.execPath, "-e", program];
    return new Program(t, command, args, {});
  };
  const server = start(a.within, answering);
  await server.printed(/listening/);
  const client = start(b.within, asking(a.address));
  const answers = () => client.stdout.split("\n").filter((line) => line !== "");
  const heard = () => server.stdout.match(/\d+/g)?.length ?? 0;
  /** TCP sends again later and later, the later the longer a cut was. */
  const grows = async (count: () => number) => {
    const before = count();
    while (count() === before) await wait(50);
  };
  /** @returns whether a second comes in which nothing does: what was under way arrives before it on a busy machine */
  const rests = async (count: () => number) => {
    for (let seconds = 0; seconds < 60; seconds++) {
      const before = count();
      await wait(1000);
      if (count() === before) return true;
    }
    return false;
  };
  await grows(() => answers().length);
  for (const [weather, hears] of [
    ["cut", false],
    ["cut outward", true],
    ["cut inward", false],
  ] as const) {
    a.weather = weather;
    t.ok(await rests(() => answers().length), `${weather}: no answer arrives`);
    if (hears) {
      while (heard() <= answers().length) await wait(50);
      t.pass(`${weather}: the server hears what it cannot answer`);
    } else t.ok(await rests(heard), `${weather}: the server hears nothing`);
    a.weather = "good";
    await grows(() => answers().length);
    t.pass("the same connection goes on");
  }
  a.weather = "slow";
  await grows(() => answers().length);
  await client.end("SIGKILL");
  const numbers = answers().map(Number);
  t.strictSame(
    numbers,
    numbers.map((_, index) => index + 1),
    "each once, in order",
  );
});

t.test("nothing of a network stays behind when its test is killed", { skip }, async (t) => {
  const program = `import { Namespaces } from "${checkout}/test/cluster/namespaces.ts";
    const network = await Namespaces.open({ teardown() {} });
    const { within: [command, ...args] } = network.add("a");
    const child = (await import("node:child_process")).spawn(command, [...args, "sleep", "1000"]);
    console.log("sleeper " + child.pid);`;
  const killed = new Program(t, process.execPath, ["--import=tsx", "--input-type=module", "-e", program], {});
  const [, sleeper = ""] = await killed.printed(/sleeper (\d+)/);
  const listed = () => spawnSync("ip", ["netns", "list"], { encoding: "utf8" }).stdout;
  const isThere = () => listed().includes(`cq${killed.pid}-`);
  t.ok(isThere());
  await killed.end("SIGKILL");
  while (isThere()) await wait(50);
  // One that has ended may wait for its parent.
  const isRunning = () => /\) [^Z]/.test(statusOf(sleeper));
  while (isRunning()) await wait(50);
  t.notOk(isRunning(), "nor a program in it");
});

function statusOf(pid: string): string {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}
