/**
 * A process with few file descriptors (prlimit of Debian's util-linux). Connections leave some for everything else, and
 * even without any, nothing ends the process (S3).
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readlinkSync } from "node:fs";
import { Agent } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { askAdmin, sampleIn } from "../support/admin.ts";
import { sendFile } from "../support/attachments.ts";
import { Client, encodeForm, type Params } from "../support/client.ts";
import { RawConnection } from "../support/http.ts";
import { multipart, multipartType } from "../support/pictures.ts";
import { checkout, Program } from "../support/process.ts";
import { readZuliprc, temporaryFolder } from "../support/server.ts";

const descriptors_max = 128;

function request(client: Client, path: string, body: string | Buffer, contentType: string): Buffer {
  const head = [
    `${body.length === 0 ? "GET" : "POST"} /api/v1${path} HTTP/1.1`,
    "Host: localhost",
    `Authorization: ${client.authorization}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${body.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), Buffer.from(body)]);
}

function post(client: Client, content: string): Buffer {
  const params: Params = { type: "channel", to: "general", topic: "t", content };
  return request(client, "/messages", encodeForm(params), "application/x-www-form-urlencoded");
}

const skip = spawnSync("prlimit", ["--version"]).error !== undefined && "prlimit is not installed";

interface Served {
  readonly program: Program;
  readonly dataDir: string;
  readonly url: string;
  readonly owner: Client;
  /** The numbers of its sockets. */
  sockets(): number[];
}

async function serve(t: Test): Promise<Served> {
  const dataDir = temporaryFolder(t);
  const environment = { PORT: "0", RATE_LIMITS: "off", DATA_DIR: dataDir };
  const given = [`--nofile=${descriptors_max}:${descriptors_max}`, process.execPath, "colloquy.mjs"];
  const program = new Program(t, "prlimit", given, environment);
  const [, url = ""] = await program.printed(/is at (\S+)\n[\s\S]*Try: .*\n/);
  const owner = new Client(url, { ...readZuliprc(join(dataDir, "zuliprc")), userId: 2 });
  const folder = `/proc/${program.pid}/fd`;
  const isSocket = (name: string) => {
    try {
      return readlinkSync(join(folder, name)).startsWith("socket:");
    } catch {
      // It was closed just now.
      return false;
    }
  };
  const sockets = () => readdirSync(folder).filter(isSocket).map(Number);
  return { program, dataDir, url, owner, sockets };
}

/** Adds idle connections until the server refuses one. It ends those that are idle for some seconds. */
async function fill(crowd: Socket[], url: string): Promise<void> {
  const { port, hostname } = new URL(url);
  for (let count = 0; count < 2 * descriptors_max; count++) {
    const socket = connect(Number(port), hostname).on("error", () => undefined);
    crowd.push(socket);
    socket.write("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const isServed = await new Promise<boolean>((resolve) => {
      socket.once("data", () => resolve(true)).once("close", () => resolve(false));
    });
    if (!isServed) return;
  }
}

t.test("[S3] idle connections leave descriptors for the journal, files and the admin listener", { skip }, async (t) => {
  const { program, dataDir, url, owner, sockets } = await serve(t);
  const [connected, uploader] = [new RawConnection(url), new RawConnection(url)];
  const holders = [new RawConnection(url), new RawConnection(url)];
  const ask = async (bytes: Buffer, connection = connected) => {
    await connection.write(bytes);
    return connection.answer();
  };
  for (const connection of [connected, uploader, ...holders]) {
    t.equal((await ask(post(owner, "before"), connection))?.status, 200);
  }
  const crowd: Socket[] = [];
  await fill(crowd, url);
  const bound = descriptors_max * (1 - limits.descriptors_reserved_share);
  const ofReserve = sockets().filter((number) => number >= bound);
  t.strictSame(ofReserve, [], "no connection has a number of the reserve");
  t.ok(sockets().length > descriptors_max / 4, "the others are for connections");
  const [, at] = await program.complained(/connections are refused.*?(\d+) descriptors/);
  t.equal(Number(at), descriptors_max, "the log names the limit");

  t.equal((await ask(request(owner, "/users/me", "", "text/plain")))?.status, 200, "connected clients are served");
  const file = multipart([{ bytes: "text", filename: '"a.txt"', contentType: "text/plain", name: "filename" }]);
  // Their uploads never end, so each holds a file.
  for (const holder of holders) {
    await holder.write(request(owner, "/user_uploads", file, multipartType).subarray(0, -20));
  }
  let code = "";
  for (let attempts = 0; attempts < 20 && code !== "OVERLOADED"; attempts++) {
    await fill(crowd, url);
    ({ code } = JSON.parse((await ask(request(owner, "/user_uploads", file, multipartType), uploader))?.text ?? "{}"));
  }
  t.equal(code, "OVERLOADED", "no file is opened");
  const segments = () => readdirSync(join(dataDir, "journal")).filter((name) => name.endsWith(".journal"));
  const before = segments().at(-1);
  for (let count = 0; count < 2000 && segments().at(-1) === before; count++) {
    await ask(post(owner, "x".repeat(10_000)));
  }
  t.not(segments().at(-1), before, "the journal begins a segment");
  t.equal((await askAdmin(dataDir, "/readyz")).status, 200, "the admin listener answers");
  t.ok(sampleIn((await askAdmin(dataDir, "/metrics")).body, 'colloquy_memory_bytes{kind="rss"}'));

  for (const socket of crowd) socket.destroy();
  while ((await sendFile(owner, "text").catch(() => null))?.status !== 200) await ask(post(owner, "again"));
  t.equal((await owner.post("/messages", { type: "direct", to: [2], content: "after" })).status, 200);
  t.equal((await program.end("SIGTERM")).code, 0);
});

t.test("[S3] a server that can open no file at all goes on, its figures lack the unreadable", { skip }, async (t) => {
  const { program, dataDir, url, owner } = await serve(t);
  const connected = new RawConnection(url);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const live = async () => JSON.parse((await askAdmin(dataDir, "/admin/live", { agent })).body);
  const { next } = await live();
  const limitTo = (soft: number) => spawnSync("prlimit", [`--pid=${program.pid}`, `--nofile=${soft}:`]);
  t.equal(limitTo(1).status, 0);
  let figures = await live();
  let answered: number | undefined = 200;
  while (figures.next < next + 2 && answered === 200) {
    figures = await live();
    await connected.write(post(owner, "meanwhile"));
    answered = (await connected.answer())?.status;
  }
  t.equal(answered, 200, "connected clients are served");
  t.equal(figures.values.memory_rss_bytes.at(-1), null);
  t.equal(typeof figures.values.cpu_cores.at(-1), "number", "the others are there");
  limitTo(descriptors_max);
  t.equal((await program.end("SIGTERM")).code, 0);
});

t.test("[S3] a scheduled backup that cannot be started for lack of descriptors is logged", { skip }, async (t) => {
  const script = `
    import { openSync } from "node:fs";
    import { runBackupProcess } from ${JSON.stringify(join(checkout, "src/operate/backup-schedule.ts"))};
    const print = (_fields, line) => process.stdout.write(line + "\\n");
    try { for (;;) openSync("/"); } catch {}
    await runBackupProcess({ environment: {}, log: { info: print, error: print } });
    process.stdout.write("resolved\\n");`;
  const node = [process.execPath, "--import=tsx", "--input-type=module", "-e", script];
  const program = new Program(t, "prlimit", [`--nofile=${descriptors_max}`, ...node], {});
  const { code, stdout } = await program.exited;
  t.match(stdout, /a backup could not be started\n[\s\S]*resolved/);
  t.equal(code, 0);
});
