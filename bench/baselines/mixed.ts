// Baseline of `mixed`: a bare uWebSockets.js + lmdb server. Reads and typing get the bytes that the real server sent;
// presence keeps the caller's row in memory; posts, flags and uploads store one row (uploads also a flushed file) and
// are answered after the flush, one transactionSync per setImmediate batch. A post answers every held poll with the
// real server's event. No users, permissions or indexes. The prepared bytes are in ANSWERS_FILE.

import { App, type HttpResponse } from "uWebSockets.js";
import { mkdirSync, readFileSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { join } from "node:path";
import { open } from "lmdb";
import { Packr } from "msgpackr";
import { markerIn, markerOffsets, patchMarkers } from "../lib/http-request.ts";
import { answerJson, parseForm, readBody, serveBaseline } from "./baseline.ts";

/** The content of ANSWERS_FILE, written by the parent. */
export interface MixedAnswers {
  /** Bodies by path. */
  readonly page: string;
  readonly presence: string;
  readonly upload: string;
  readonly flag: string;
  readonly typing: string;
  readonly post: string;
  /** One event as JSON, with a marker, and with `"id":0` in place of its id. */
  readonly event: string;
}

interface Queue {
  waitingPoll: HttpResponse | null;
  waiting: string[];
}

const EVENT_ID = '"id":0}';
const answers = JSON.parse(readFileSync(process.env["ANSWERS_FILE"] ?? "", "utf8")) as MixedAnswers;
const folder = process.env["DATA_DIR"] ?? "";
const packr = new Packr({ useRecords: false });
const environment = open({ path: folder, overlappingSync: false, maxDbs: 4 });
const rows = environment.openDB<Buffer, number>({ name: "rows", encoding: "binary" });
const files = join(folder, "..", "files");
mkdirSync(files);

const event = Buffer.from(answers.event.slice(0, -EVENT_ID.length), "utf8");
const offsets = markerOffsets(event);
const queues = new Map<string, Queue>();
const presences = new Map<string, { readonly status: string; readonly time: number }>();
let lastRow = 0;
let lastEvent = 0;
let batch: { readonly row: object; readonly done: () => void }[] = [];

const app = App();
app.get("/api/v1/messages", (res) => answerJson(res, answers.page));
app.get("/api/v1/events", (res, req) => {
  const id = req.getQuery("queue_id") ?? "";
  const queue = queues.get(id) ?? { waitingPoll: null, waiting: [] };
  queues.set(id, queue);
  res.onAborted(() => {
    if (queue.waitingPoll === res) queue.waitingPoll = null;
  });
  queue.waitingPoll = res;
  sendEvent(queue);
});
app.post("/api/v1/users/me/presence", (res, req) => {
  const caller = req.getHeader("authorization");
  take(res, (body, answer) => {
    presences.set(caller, { status: parseForm(body).get("status") ?? "", time: Date.now() });
    answer(answers.presence);
  });
});
app.post("/api/v1/typing", (res) => {
  take(res, (body, answer) => {
    parseForm(body);
    answer(answers.typing);
  });
});
app.post("/api/v1/messages/flags", (res) => {
  take(res, (body, answer) => store(Object.fromEntries(parseForm(body)), () => answer(answers.flag)));
});
app.post("/api/v1/messages", (res) => {
  take(res, (body, answer) => {
    const fields = parseForm(body);
    store(Object.fromEntries(fields), () => {
      answer(answers.post);
      publish(markerIn(fields.get("content") ?? "") ?? 0);
    });
  });
});
app.post("/api/v1/user_uploads", (res) => {
  take(res, (body, answer) => {
    void writeFlushed(body).then((name) => store({ name, bytes: body.length }, () => answer(answers.upload)));
  });
});
serveBaseline(app, () => environment.close());

/** Reads the body, and passes a function that responds if the client is still connected. */
function take(res: HttpResponse, onBody: (body: Buffer, answer: (text: string) => void) => void): void {
  let isAborted = false;
  res.onAborted(() => {
    isAborted = true;
  });
  readBody(res, (body) =>
    onBody(body, (text) => {
      if (!isAborted) answerJson(res, text);
    }),
  );
}

function store(row: object, done: () => void): void {
  batch.push({ row, done });
  if (batch.length === 1) setImmediate(commit);
}

function commit(): void {
  const entries = batch;
  batch = [];
  // A block body: returning a put's promise would leave the transaction open (pitfalls 1.1).
  environment.transactionSync(() => {
    for (const { row } of entries) {
      lastRow += 1;
      // In a synchronous transaction the row is written when `put` returns; its promise adds nothing.
      void rows.put(lastRow, packr.pack(row));
    }
  });
  for (const { done } of entries) done();
}

/** The raw body is stored as the file: a baseline does not look for boundaries. */
async function writeFlushed(body: Buffer): Promise<string> {
  const name = join(files, `${performance.now()}-${body.length}`);
  const file = await openFile(name, "w");
  await file.write(body);
  await file.sync();
  await file.close();
  return name;
}

function publish(marker: number): void {
  lastEvent += 1;
  patchMarkers(event, offsets, marker);
  const text = `${event.toString("utf8")}"id":${lastEvent}}`;
  for (const queue of queues.values()) {
    queue.waiting.push(text);
    sendEvent(queue);
  }
}

function sendEvent(queue: Queue): void {
  const { waitingPoll, waiting } = queue;
  if (waitingPoll === null || waiting.length === 0) return;
  queue.waitingPoll = null;
  queue.waiting = [];
  answerJson(waitingPoll, `{"result":"success","msg":"","events":[${waiting.join(",")}]}`);
}
