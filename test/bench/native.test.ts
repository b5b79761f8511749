// What the kit leaves to programs in C: the plan and the report of wrk, wrk itself against a server of node:http, and
// the reader of events (bench/native/receiver.c) beside its substitute in Node, against a server of the `ws` package.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { type WebSocket, WebSocketServer } from "ws";
import { runJob } from "../../bench/lib/generator-process.ts";
import type { Address } from "../../bench/lib/http-connection.ts";
import { buildRequest, MARKER } from "../../bench/lib/http-request.ts";
import { type DeliveriesJob, type HttpLoadJob, KIT_SENDER, REGISTER_REF } from "../../bench/lib/job.ts";
import { findWrk, hasCompiler } from "../../bench/lib/native.ts";
import { encodeRecord, formatConfig, parseConfig, RecordReader } from "../../bench/lib/receiver-protocol.ts";
import { withTools } from "../../bench/lib/tools.ts";
import { openWorkspace } from "../../bench/lib/workspace.ts";
import { formatPlan, parseWrkReport } from "../../bench/lib/wrk-plan.ts";

const workspace = openWorkspace();
t.teardown(() => workspace.remove());
const HOST = "127.0.0.1";
/** On a busy machine a second has some completed requests, and a tenth of one may have none. */
const durationMs = 1000;

const wrk = findWrk();
const withoutWrk = wrk === null ? "wrk is not installed (Debian package wrk)" : false;
const receiver = hasCompiler() ? workspace.native("receiver") : null;
const withoutCompiler = receiver === null ? "there is no compiler of C (Debian package build-essential)" : false;

const REPORT = {
  ...{ requests: 1_000, duration_us: 2_000_000, mean_us: 1_500.5, sent: 1_002 },
  ...{ connect_errors: 0, read_errors: 0, write_errors: 0, timeouts: 0, statuses_from_400: 0 },
  ...{ checked: 0, checked_body_bytes: 0, refused: 0, first_status: 0, first_body: "" },
  percentiles_us: [10, 20, 30, 500, 600, 700, 800, 2_500, 3_000, 4_000, 4_100, 4_200, 5_000],
};

/** What wrk prints, with its own words before the line of bench/native/load.lua. */
function outputOf(fields: Partial<typeof REPORT>): string {
  return `Running 2s test @ http://x\n  1 threads and 4 connections\n${JSON.stringify({ ...REPORT, ...fields })}\n`;
}

t.test("a report has the rate, the percentiles in ms, and no failures", async (t) => {
  const report = parseWrkReport(outputOf({}));
  t.match(report, { answered: 1_000, seconds: 2, sent: 1_002, meanBodyBytes: null });
  t.equal(report.latency.percentilesMs[3], 0.5, "p50");
  t.equal(report.latency.percentilesMs[7], 2.5, "p99");
  t.same(report.failures, { statuses: {}, firstBody: "", brokenConnections: 0, firstBreak: "", unanswered: 0 });
});

t.test("every kind of error in a report is a failure of the run", async (t) => {
  const failuresOf = (fields: Partial<typeof REPORT>) => parseWrkReport(outputOf(fields)).failures;
  t.same(failuresOf({ statuses_from_400: 3 }).statuses, { "400 and above": 3 });
  const refused = {
    checked: 9,
    checked_body_bytes: 90,
    refused: 2,
    first_status: 302,
    first_body: "gr\u00c3\u00bc\u00c3\u009f",
  };
  t.match(failuresOf(refused), { statuses: { "other than 200, the first 302": 2 }, firstBody: "grüß" });
  t.match(failuresOf({ connect_errors: 1, read_errors: 2, write_errors: 4 }), {
    brokenConnections: 7,
    firstBreak: "1 not opened, 2 while reading, 4 while writing",
  });
  t.equal(failuresOf({ timeouts: 5 }).unanswered, 5);
  t.throws(
    () => parseWrkReport("unable to connect to 127.0.0.1:1 Connection refused\n"),
    /no report: unable to connect/,
  );
});

t.test("a plan holds the requests byte by byte, cut at the digits of their markers", async (t) => {
  const cycles = [[`a"\\\r\n${MARKER}b${MARKER}`], ["c"]];
  const plan = formatPlan({ cycles, connections: 1, firstMarker: 7 });
  t.equal(
    plan,
    'return { first = 7, block = 4, steps = 1, cycles = {{{"a\\034\\092\\013\\010bm","xbbm","x"}},{{"c"}}} }\n',
  );
  t.throws(() => formatPlan({ cycles: [["a"], ["b", "c"]], connections: 1, firstMarker: 0 }), /same length/);
});

/** A server that answers with what `answer` makes of the number of a request and its body. */
async function serve(t: Test, answer: (index: number, body: string) => number): Promise<Address> {
  let requests = 0;
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => {
      response.statusCode = answer(requests, body);
      requests += 1;
      response.end("four");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { host: HOST, port: (server.address() as AddressInfo).port };
}

const post = (topic: string, op?: string): string =>
  buildRequest({
    method: "POST",
    path: "/",
    authorization: "Basic eA==",
    form: { ...(op === undefined ? {} : { op }), topic, content: `${MARKER} hello` },
    host: HOST,
  });

const httpJob = (address: Address): HttpLoadJob => ({
  kind: "http-load",
  address,
  watch: null,
  connections: 4,
  cycles: [[post("one")], [post("two")]],
  pace: { warmupMs: 100, durationMs, ratePerSecond: null },
});

t.test("wrk sends every request in turn, each with a marker of its own", { skip: withoutWrk }, async (t) => {
  const markers = new Set<string>();
  const topics: Record<string, number> = {};
  let requests = 0;
  const address = await serve(t, (_index, body) => {
    const form = new URLSearchParams(body);
    markers.add(form.get("content") ?? "");
    const topic = form.get("topic") ?? "";
    topics[topic] = (topics[topic] ?? 0) + 1;
    requests += 1;
    return 200;
  });
  const result = await runJob(workspace, withTools(workspace, httpJob(address)));
  t.match(result.sender, /^wrk /);
  t.ok(result.completed > 0 && result.perSecond > 0);
  t.same(result.failures, { statuses: {}, firstBody: "", brokenConnections: 0, firstBreak: "", unanswered: 0 });
  t.equal(result.bodyBytes, 4 * result.completed, "the size of a body is known from the warm-up");
  t.ok((result.latency.percentilesMs[3] ?? 0) > 0);
  t.equal(markers.size, requests, "warm-up and measured window share no marker");
  t.ok(Math.abs((topics["one"] ?? 0) - (topics["two"] ?? 0)) <= 4 * 2, JSON.stringify(topics));
  t.ok(result.usage.generatorShare > 0, "its thread is seen, although it ends before the window is closed");
});

t.test("an answer that is not 200 fails the run, with its text", { skip: withoutWrk }, async (t) => {
  const address = await serve(t, (index) => (index === 5 ? 302 : 200));
  const { failures } = await runJob(workspace, withTools(workspace, httpJob(address)));
  t.match(failures, { statuses: { "other than 200, the first 302": 1 }, firstBody: "four" });
});

t.test("a fixed rate, and connections with a cycle of their own, stay with the kit", async (t) => {
  const job = httpJob({ host: HOST, port: 1 });
  const isByWrk = (changes: Partial<HttpLoadJob>) => "wrk" in withTools(workspace, { ...job, ...changes });
  t.equal(isByWrk({}), wrk !== null);
  t.notOk(isByWrk({ pace: { ...job.pace, ratePerSecond: 10 } }));
  t.notOk(isByWrk({ cycles: [["on", "off"]] }));
  t.notOk(isByWrk({ postSockets: { dialect: "json", path: "/", authorizations: [] } }));
});

/** A server of posts and sockets; `push` sends what it makes of a post to one of the sockets. */
async function servePushes(
  t: Test,
  push: (options: { form: URLSearchParams; index: number; socket: WebSocket }) => void,
): Promise<Address & { readonly greetings: string[] }> {
  const greetings: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => {
      const form = new URLSearchParams(body);
      for (const [index, socket] of [...sockets.clients].entries()) push({ form, index, socket });
      response.end("{}");
    });
  });
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket, request) => {
    socket.on("message", (data: Buffer) => {
      greetings.push(`${request.headers.authorization} ${data.toString("utf8")}`);
      socket.send(JSON.stringify({ type: "reply", ref: REGISTER_REF, result: "success" }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  t.teardown(() => {
    for (const client of sockets.clients) client.terminate();
    sockets.close();
    server.closeAllConnections();
    server.close();
  });
  return { host: HOST, port: (server.address() as AddressInfo).port, greetings };
}

const REGISTER = JSON.stringify({ type: "register", ref: REGISTER_REF, event_types: ["message"] });

function deliveriesJob({ host, port }: Address, changes: Partial<DeliveriesJob>): DeliveriesJob {
  return {
    kind: "deliveries",
    address: { host, port },
    watch: null,
    connections: 2,
    cycles: [[post("one")]],
    firstMarker: 0,
    decoder: "scan",
    receivers: {
      path: "/api/v1/events/ws",
      authorizations: ["Basic eA==", "Basic eQ=="],
      count: 5,
      register: REGISTER,
      localAddresses: ["127.0.0.1", "127.0.0.2"],
    },
    pace: { warmupMs: 0, durationMs, ratePerSecond: 40 },
    ...changes,
  };
}

const messageFrame = (content: string | null, padding = 0): string =>
  JSON.stringify({ type: "event", event: { type: "message", padding: "p".repeat(padding), message: { content } } });

const programs = [
  {
    name: "bench/native/receiver.c",
    change: receiver === null ? {} : { receiverProgram: receiver },
    skip: withoutCompiler,
  },
  { name: "2 programs in Node", change: {}, skip: false },
] as const;

for (const { name, change, skip } of programs) {
  t.test(`${name}: every receiver is counted once per event, whatever its size`, { skip }, async (t) => {
    let pongs = 0;
    const address = await servePushes(t, ({ form, index, socket }) => {
      if (index === 0) socket.once("pong", () => (pongs += 1));
      if (index === 0) socket.ping("are you there");
      // Lengths of one, two and eight bytes; the last needs several reads.
      socket.send(messageFrame(form.get("content"), [0, 300, 700_000][index % 3]));
    });
    const result = await runJob(workspace, deliveriesJob(address, change));
    t.equal(result.receiver, name);
    t.equal(result.sender, KIT_SENDER);
    t.ok(result.posts > 0);
    t.match(result, { incomplete: 0, duplicates: 0, closedReceivers: 0, firstClose: "" });
    t.ok(result.frames > 0 && result.frames % 5 === 0, `${result.frames} frames`);
    t.equal(result.latency.count, 5 * result.lastReceiver.count);
    t.ok((result.latency.percentilesMs[0] ?? 0) > 0, "nothing arrives before it was sent");
    t.ok(pongs > 0, "pings are answered");
    t.equal(address.greetings.filter((text) => text.startsWith("Basic eA==")).length, 3);
    t.ok(address.greetings.every((text) => text.endsWith(REGISTER)));
  });

  t.test(`${name}: lost and repeated events, and lost sockets, are counted`, { skip }, async (t) => {
    const address = await servePushes(t, ({ form, index, socket }) => {
      const content = form.get("content") ?? "";
      if (content.startsWith("bm00000002x") && index === 4) return;
      socket.send(messageFrame(content));
      if (content.startsWith("bm00000001x") && index === 0) socket.send(messageFrame(content));
      // Once more, when every receiver has had it.
      if (content.startsWith("bm00000006x") && index === 0) socket.send(messageFrame("bm00000001x"));
      if (content.startsWith("bm00000003x") && index === 3) socket.close(4410, "queue gone");
    });
    const result = await runJob(workspace, deliveriesJob(address, change));
    t.equal(result.duplicates, 2);
    t.ok(result.incomplete >= 1);
    t.match(result, { closedReceivers: 1, firstClose: "close 4410 queue gone" });
  });

  t.test(`${name}: start and stop are distinguished in a frame of several events`, { skip }, async (t) => {
    const address = await servePushes(t, ({ form, socket }) => {
      const { op, content: topic } = Object.fromEntries(form);
      const stale = { type: "typing", op: "stop", topic: String(topic).replace(/^bm07/, "bm00") };
      socket.send(JSON.stringify({ type: "events", events: [stale, { type: "typing", op, topic }, stale] }));
    });
    const cycles = [[post("one", "start"), post("one", "stop")]];
    const result = await runJob(
      workspace,
      deliveriesJob(address, { ...change, cycles, decoder: "typing", firstMarker: 7_000_000 }),
    );
    t.ok(result.posts > 0);
    t.match(result, { incomplete: 0, duplicates: 0 }, "the events of another run do not count");
  });

  t.test(`${name}: a rejected registration fails the run with the reason`, { skip }, async (t) => {
    const address = await serve(t, () => 200);
    await t.rejects(runJob(workspace, deliveriesJob(address, change)), /rejected|refused/);
  });

  t.test(
    `${name}: every post of wrk was seen by every receiver exactly once`,
    { skip: skip === false ? withoutWrk : skip },
    async (t) => {
      const address = await servePushes(t, ({ form, socket }) => {
        const { op, content: topic } = Object.fromEntries(form);
        socket.send(JSON.stringify({ type: "event", event: { type: "typing", op, topic } }));
      });
      const job = deliveriesJob(address, {
        ...change,
        ...(wrk === null ? {} : { wrk }),
        cycles: ["one", "two", "three"].map((topic) => [post(topic, "start"), post(topic, "stop")]),
        decoder: "typing",
        pace: { warmupMs: 100, durationMs, ratePerSecond: null },
      });
      const result = await runJob(workspace, job);
      t.match(result.sender, /^wrk .* does not wait/);
      t.ok(result.posts > 0 && result.deliveries > 0);
      t.match(result, { incomplete: 0, duplicates: 0, closedReceivers: 0, failures: { statuses: {} } });
    },
  );
}

t.test("records of a receiver are read the same wherever the stream is cut", async (t) => {
  const report = {
    ...{ frames: 9, bytes: 99, duplicates: 0, open: 0, lost: 0, firstClose: "", samples: [null, "x"] },
    queues: [[3, "q"] as const],
  };
  const records = [
    { kind: "ready" },
    { kind: "post", post: 1_999_999, firstNs: 12_345_678_901_234n, laterUs: Uint32Array.from([0, 5, 4_000_000_000]) },
    { kind: "report", report },
  ] as const;
  const bytes = Buffer.concat(records.map(encodeRecord));
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const seen: unknown[] = [];
    const reader = new RecordReader(3, (record) => seen.push(record));
    reader.push(bytes.subarray(0, cut));
    reader.push(bytes.subarray(cut));
    t.same(seen, records, `cut at ${cut}`);
  }
});

t.test("a receiver gets the configuration that the run wants", async (t) => {
  const { address, firstMarker, decoder, receivers } = deliveriesJob({ host: HOST, port: 1 }, {});
  const config = {
    address,
    firstMarker,
    decoder,
    receivers: { ...receivers, dialect: "xmpp", firstSocket: 4 },
  } as const;
  const text = formatConfig(config);
  t.same(parseConfig(text), config);
  const spread = { ...config, receivers: { ...config.receivers, ports: [config.address.port, 2] } };
  t.same(parseConfig(formatConfig(spread)), spread, "sockets on several ports");
  t.equal(parseConfig(text.slice(0, -1)), null, "incomplete");
});
