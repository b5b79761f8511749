/** Long JSON answers are compressed for clients that accept it (D262). */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { promisify } from "node:util";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import t from "tap";
import { command } from "../../actors/protocol/decision.ts";
import { limits } from "../../schemas/limits.ts";
import { roles } from "../../schemas/types.ts";
import type { Client } from "../support/client.ts";
import { RawConnection } from "../support/http.ts";
import { pythonObstacle, runPython } from "../support/python.ts";
import { startTestServer } from "../support/server.ts";
import { StalledReader } from "../support/stalled-reader.ts";

const server = await startTestServer(t);
const { owner } = server;
const messageBytes = 10_000;
/** Longer than what the kernel buffers for a connection, and than a block of the encoder. */
const longPage = "/messages?anchor=oldest&num_before=0&num_after=1000&apply_markdown=false";
const page = "/messages?anchor=newest&num_before=110&num_after=0&apply_markdown=false";
const shortPage = "/messages?anchor=newest&num_before=90&num_after=0&apply_markdown=false";

t.before(async () => {
  for (let left = 30; left > 0; left--) {
    const contents = Array.from({ length: 20 }, () =>
      `é ${randomBytes(messageBytes / 2).toString("hex")}`.slice(0, messageBytes),
    );
    const posts = contents.map((content) => owner.post("/messages", { type: "direct", to: "[2]", content }));
    for (const { status } of await Promise.all(posts)) if (status !== 200) throw new Error(`status ${status}`);
  }
  const { dispatcher } = server.realm;
  const people = Array.from({ length: 1_300 }, (_, index) => {
    const email = `${index}${"a".repeat(40)}@${`${"b".repeat(59)}.`.repeat(3)}example.com`;
    const account = { email, fullName: `${index} ${"字".repeat(90)}`, passwordHash: "", role: roles.member };
    return dispatcher.ask(command({ actor: "realm" }, "user.create", account, owner.userId));
  });
  for (const made of await Promise.all(people)) if (made.kind !== "ok") throw new Error(JSON.stringify(made));
});

interface Raw {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** As the bytes on the connection are: fetch decodes them. */
async function rawGet(client: Client, path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") {
  const reader = new StalledReader(client.url);
  const all = { Host: "localhost", Authorization: client.authorization, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  reader.write(`${method} /api/v1${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  const bytes = await reader.wholeBytes(method !== "HEAD");
  reader.destroy();
  const end = bytes.indexOf("\r\n\r\n");
  const [first = "", ...rest] = bytes.toString("latin1", 0, end).split("\r\n");
  const named = rest.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 2)]);
  const raw: Raw = {
    status: Number(first.split(" ")[1]),
    headers: Object.fromEntries(named),
    body: bytes.subarray(end + 4),
  };
  return raw;
}

const decoders = { gzip: gunzipSync, br: brotliDecompressSync } as const;

t.test("[D262] the client's Accept-Encoding chooses Brotli, gzip or the plain answer", async (t) => {
  const plain = await rawGet(owner, page);
  t.match(plain.headers, { vary: "Accept-Encoding", "content-length": String(plain.body.length) });
  const wanted = {
    gzip: "gzip",
    br: "br",
    "gzip, deflate, br, zstd": "br",
    "gzip;q=1.0, br;q=0.5": "gzip",
    "gzip;q=0": undefined,
    "br;q=0, gzip;q=0.001": "gzip",
    identity: undefined,
    "*": undefined,
    "deflate, zstd": undefined,
  } as const;
  for (const [accepted, coding] of Object.entries(wanted)) {
    const { status, headers, body } = await rawGet(owner, page, { "Accept-Encoding": accepted });
    t.match({ status, vary: headers["vary"] }, { status: 200, vary: "Accept-Encoding" }, accepted);
    t.equal(headers["content-encoding"], coding, accepted);
    t.equal(headers["content-length"], String(body.length), accepted);
    t.strictSame(coding === undefined ? body : decoders[coding](body), plain.body, accepted);
  }
});

t.test("[D262] an answer of many megabytes has the same bytes, also for a client that reads slowly", async (t) => {
  const plain = await rawGet(owner, longPage);
  t.ok(plain.body.length > 5_000_000);
  for (const coding of ["br", "gzip"] as const) {
    const reader = new StalledReader(owner.url);
    const head = `Host: localhost\r\nAuthorization: ${owner.authorization}\r\nAccept-Encoding: ${coding}`;
    reader.write(`GET /api/v1${longPage} HTTP/1.1\r\n${head}\r\n\r\n`);
    // The first bytes are here and the rest waits, while others are answered.
    t.equal(await reader.status, 200);
    t.match(await owner.get("/users/me"), { status: 200 });
    const bytes = await reader.wholeBytes();
    reader.destroy();
    t.ok(decoders[coding](bytes.subarray(bytes.indexOf("\r\n\r\n") + 4)).equals(plain.body), coding);
  }
});

t.test("[D262] an answer below compressed_length_min is as it was, and says nothing about codings", async (t) => {
  for (const path of ["/users/me", shortPage]) {
    const { headers, body } = await rawGet(owner, path, { "Accept-Encoding": "gzip, br" });
    t.ok(body.length < limits.compressed_length_min);
    t.match({ coding: headers["content-encoding"], vary: headers["vary"] }, { coding: undefined, vary: undefined });
  }
});

t.test("[D262] nothing is compressed for HEAD, which says the length only if GET would not compress", async (t) => {
  const { body } = await rawGet(owner, page);
  const lengths = { identity: String(body.length), gzip: undefined } as const;
  for (const [accepted, length] of Object.entries(lengths)) {
    const { status, headers } = await rawGet(owner, page, { "Accept-Encoding": accepted }, "HEAD");
    t.match({ status, vary: headers["vary"] }, { status: 200, vary: "Accept-Encoding" }, accepted);
    t.strictSame([headers["content-encoding"], headers["content-length"]], [undefined, length], accepted);
  }
  // The connection goes on.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const statuses: unknown[] = [];
  for (const method of ["HEAD", "GET", "HEAD"]) statuses.push(await statusOn(agent, method));
  agent.destroy();
  t.strictSame(statuses, [200, 200, 200]);
});

/** Asks for compressed pages over one connection. */
async function statusOn(agent: Agent, method: string): Promise<unknown> {
  const headers = { authorization: owner.authorization, "accept-encoding": "gzip" };
  const sent = request(`${owner.url}/api/v1${page}`, { agent, method, headers }).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  answer.resume();
  await once(answer, "end");
  return answer.statusCode;
}

t.test("[D262] a compressed answer has a weak ETag, and 304 says on what the answer depends", async (t) => {
  const plain = await rawGet(owner, "/users");
  const packed = await rawGet(owner, "/users", { "Accept-Encoding": "br" });
  t.strictSame([plain.headers["content-encoding"], packed.headers["content-encoding"]], [undefined, "br"]);
  t.equal(packed.headers["etag"], `W/${plain.headers["etag"]}`);
  for (const tag of [plain.headers["etag"] ?? "", packed.headers["etag"] ?? ""]) {
    const again = await rawGet(owner, "/users", { "Accept-Encoding": "br", "If-None-Match": tag });
    t.match(again, { status: 304, headers: { vary: "Accept-Encoding" } }, tag);
  }
});

t.test("[D262] the connection ends after a compressed answer where it would without", async (t) => {
  const connection = new RawConnection(owner.url);
  const lines = [
    "POST /api/v1/register HTTP/1.1",
    "Host: localhost",
    `Authorization: ${owner.authorization}`,
    "Accept-Encoding: gzip",
    "Content-Type: application/x-www-form-urlencoded",
    "Transfer-Encoding: chunked",
    "Connection: close",
  ];
  await connection.write(`${lines.join("\r\n")}\r\n\r\n3\r\na=b\r\n0\r\n\r\n`);
  t.match(await connection.answer(), { status: 200, headers: { "content-encoding": "gzip" } });
  await connection.closed;
});

t.test("[D262] a server that stops while it compresses answers cuts them, or sends them as they are", async (t) => {
  const other = await startTestServer(t);
  const content = "x".repeat(messageBytes);
  for (let left = 110; left > 0; left--) await other.owner.post("/messages", { type: "direct", to: "[2]", content });
  const plain = await rawGet(other.owner, page);
  const pending = Array.from({ length: 6 }, () => rawGet(other.owner, page, { "Accept-Encoding": "gzip" }));
  await Promise.race(pending);
  await other.stop();
  const answers = (await Promise.all(pending)).filter(({ status }) => status === 200);
  const whole = answers.filter(({ headers, body }) => body.length === Number(headers["content-length"]));
  for (const { headers, body } of whole) {
    t.ok((headers["content-encoding"] === "gzip" ? gunzipSync(body) : body).equals(plain.body));
  }
  t.ok(whole.length > 0);
});

t.test("[D262] programs that others wrote decode what they asked for", async (t) => {
  const url = `${owner.url}/api/v1${page}`;
  const fetched = await fetch(url, { headers: owner.credentials });
  t.equal(fetched.headers.get("content-encoding"), "gzip", "undici asks for it by itself");
  const text = await fetched.text();
  t.equal(JSON.parse(text).messages.length, 110);
  const credentials = `${owner.account?.email}:${owner.account?.key}`;
  const curl = await promisify(execFile)("curl", ["-s", "-i", "--compressed", "-u", credentials, url], {
    maxBuffer: 4 * messageBytes * 110,
  }).catch((error: NodeJS.ErrnoException) => (error.code === "ENOENT" ? null : Promise.reject(error)));
  if (curl === null) t.comment("curl is not installed");
  else {
    t.match(curl.stdout, /^content-encoding: (?:br|gzip)\r$/im);
    t.equal(curl.stdout.slice(curl.stdout.indexOf("\r\n\r\n") + 4), text);
  }
  const obstacle = pythonObstacle("requests");
  if (obstacle !== null) {
    t.comment(obstacle);
    return;
  }
  const { email = "", key = "" } = owner.account ?? {};
  const lines = [
    "import os, requests",
    "answer = requests.get(os.environ['URL'], auth=(os.environ['EMAIL'], os.environ['KEY']))",
    "print(answer.headers['Content-Encoding'], len(answer.json()['messages']))",
  ];
  const program = runPython(t, ["-c", lines.join("\n")], { URL: url, EMAIL: email, KEY: key });
  await program.exited;
  t.match(program.stdout, /^(?:gzip|br) 110\n$/);
});

// The last one: a request that was read late may still take the room of another test.
t.test("[D262] clients that leave while their answers are compressed harm nobody", async (t) => {
  const gone = Array.from({ length: 30 }, async () => {
    const connection = new RawConnection(owner.url);
    const head = `Host: localhost\r\nAuthorization: ${owner.authorization}\r\nAccept-Encoding: gzip`;
    await connection.write(`GET /api/v1${longPage} HTTP/1.1\r\n${head}\r\n\r\n`);
    connection.destroy();
    await connection.closed;
  });
  await Promise.all(gone);
  // Their blocks end, and there is room again.
  let coding: string | undefined;
  while (coding !== "br") coding = (await rawGet(owner, page, { "Accept-Encoding": "br" })).headers["content-encoding"];
  t.equal(coding, "br");
});
