// Second baseline of `send` and `slow-disk`: a bare uWebSockets.js server that appends a record for each post to a
// journal and answers when it is flushed. Records have the rows of bench/baselines/send.ts. A thread writes all that
// has arrived since the last flush with one write and one fdatasync (journal-writer.ts), so the loop never waits.

import { App, type HttpResponse } from "uWebSockets.js";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { crc32c } from "@node-rs/crc32";
import { Packr } from "msgpackr";
import { answerJson, parseForm, readBody, serveBaseline } from "./baseline.ts";
import type { Appended, Flushed } from "./journal-writer.ts";

/** Length, checksum and number of a record. */
const HEADER_BYTES = 16;

interface Post {
  readonly res: HttpResponse;
  readonly id: number;
  aborted: boolean;
}

const folder = process.env["DATA_DIR"] ?? "";
mkdirSync(folder, { recursive: true });
const writer = new Worker(fileURLToPath(new URL("journal-writer.mjs", import.meta.url)), {
  workerData: { file: join(folder, "journal") },
});
const packr = new Packr({ useRecords: false });

let lastId = 0;
/** Posts without an answer, in the order of their records. */
let waiting: Post[] = [];
let records: Buffer[] = [];

writer.on("message", ({ upTo }: Flushed) => {
  const durable = waiting.filter((post) => post.id <= upTo);
  waiting = waiting.slice(durable.length);
  for (const post of durable) if (!post.aborted) answerJson(post.res, `{"result":"success","msg":"","id":${post.id}}`);
});

const app = App();
app.post("/api/v1/messages", (res) => {
  let post: Post | null = null;
  let aborted = false;
  res.onAborted(() => {
    aborted = true;
    if (post !== null) post.aborted = true;
  });
  readBody(res, (body) => {
    lastId += 1;
    post = { res, id: lastId, aborted };
    waiting.push(post);
    records.push(recordOf(lastId, parseForm(body)));
    if (records.length === 1) setImmediate(append);
  });
});
// The thread is told to open its file before the first post.
writer.once("online", () => serveBaseline(app, async () => void (await writer.terminate())));

function recordOf(id: number, fields: Map<string, string>): Buffer {
  const form = { to: fields.get("to"), topic: fields.get("topic"), content: fields.get("content") };
  const row = packr.pack({ id, ...form, time: Date.now() });
  const record = Buffer.allocUnsafe(HEADER_BYTES + row.length);
  record.writeUInt32LE(row.length, 0);
  record.writeUInt32LE(crc32c(row), 4);
  record.writeBigUInt64LE(BigInt(id), 8);
  record.set(row, HEADER_BYTES);
  return record;
}

function append(): void {
  // A copy of its own, because memory of Buffer's pool cannot be handed over.
  const whole = new Uint8Array(records.reduce((sum, record) => sum + record.length, 0));
  let at = 0;
  for (const record of records) {
    whole.set(record, at);
    at += record.length;
  }
  records = [];
  const appended: Appended = { upTo: lastId, bytes: whole };
  writer.postMessage(appended, [whole.buffer]);
}
