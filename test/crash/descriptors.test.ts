/**
 * A process with few file descriptors (prlimit of Debian's util-linux). When all are in use, connected clients are
 * served and new ones wait; when some are released, new ones are served, too (S3).
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import t from "tap";
import { sendFile } from "../support/attachments.ts";
import { Client, encodeForm, type Params } from "../support/client.ts";
import { RawConnection } from "../support/http.ts";
import { multipart, multipartType } from "../support/pictures.ts";
import { Program } from "../support/process.ts";
import { readZuliprc, temporaryFolder } from "../support/server.ts";

const descriptors_max = 64;

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

t.test(
  "[S3] with all descriptors in use connected clients are served, and new ones are accepted when some are released",
  async (t) => {
    if (spawnSync("prlimit", ["--version"]).error !== undefined) {
      t.pass("not tried", { skip: "prlimit is not installed" });
      return;
    }
    const dataDir = temporaryFolder(t);
    const environment = { PORT: "0", RATE_LIMITS: "off", DATA_DIR: dataDir };
    const given = [`--nofile=${descriptors_max}:${descriptors_max}`, process.execPath, "start.mjs"];
    const program = new Program(t, "prlimit", given, environment);
    const [, url = ""] = await program.printed(/is at (\S+)\n[\s\S]*Try: .*\n/);
    const owner = new Client(url, { ...readZuliprc(join(dataDir, "zuliprc")), userId: 2 });
    const inUse = () => readdirSync(`/proc/${program.pid}/fd`).length;

    const connected = new RawConnection(url);
    const ask = async (bytes: Buffer) => {
      await connected.write(bytes);
      return connected.answer();
    };
    t.equal((await ask(post(owner, "before")))?.status, 200);
    const { port, hostname } = new URL(url);
    const crowd: Socket[] = [];
    for (let count = 0; count < descriptors_max; count++) {
      const socket = connect(Number(port), hostname).on("error", () => undefined);
      crowd.push(socket);
      await once(socket, "connect");
    }
    // Each response is a pass of the server's event loop, in which it accepts waiting connections.
    for (let passes = 0; passes < 1000 && inUse() < descriptors_max; passes++) await ask(post(owner, `pass ${passes}`));
    t.ok(inUse() >= descriptors_max, "none is left");

    t.equal((await ask(post(owner, "meanwhile")))?.status, 200, "connected clients are served");
    t.equal((await ask(request(owner, "/users/me", "", "text/plain")))?.status, 200);
    const file = multipart([{ bytes: "text", filename: '"a.txt"', contentType: "text/plain", name: "filename" }]);
    const refused = await ask(request(owner, "/user_uploads", file, multipartType));
    t.equal(refused?.status, 503, "a file cannot be opened now");
    t.match(JSON.parse(refused?.text ?? "{}"), { result: "error", code: "OVERLOADED" });
    const late = owner.get("/users/me");

    for (const socket of crowd) socket.destroy();
    t.equal((await late).status, 200, "the waiting client is accepted");
    t.equal((await sendFile(owner, "text")).status, 200);
    t.equal((await owner.post("/messages", { type: "direct", to: [2], content: "after" })).status, 200);
    t.equal((await program.end("SIGTERM")).code, 0);
  },
);
