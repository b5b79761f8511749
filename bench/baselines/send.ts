// Baseline of `send`, `start`, `settings` and `status`: a bare uWebSockets.js + lmdb server with the real server's
// durability. It parses the form, stores one row per post, and responds after the flush: one transactionSync per
// setImmediate batch, overlappingSync off (pitfalls 1.1, 1.2, 2.4). No users, permissions, indexes, events or
// rendering.

import { App, type HttpResponse } from "uWebSockets.js";
import { open } from "lmdb";
import { Packr } from "msgpackr";
import { answerJson, parseForm, readBody, serveBaseline } from "./baseline.ts";

interface Post {
  readonly res: HttpResponse;
  readonly rowOf: (fields: Map<string, string>) => object;
  fields: Map<string, string>;
  aborted: boolean;
  id: number;
}

const packr = new Packr({ useRecords: false });
const environment = open({ path: process.env["DATA_DIR"] ?? "", overlappingSync: false, maxDbs: 4 });
const messages = environment.openDB<Buffer, number>({ name: "messages", encoding: "binary" });

let lastId = 0;
let batch: Post[] = [];

/** The unchanged part of a user's row. */
const PERSON = "p".repeat(160);

const app = App();
app.post("/api/v1/messages", (res) => accept(res, messageRow));
app.patch("/api/v1/settings", (res) => accept(res, personRow));
app.post("/api/v1/users/me/status", (res) => accept(res, personRow));

function messageRow(fields: Map<string, string>): object {
  return { to: fields.get("to"), topic: fields.get("topic"), content: fields.get("content") };
}

function personRow(fields: Map<string, string>): object {
  return { changed: Object.fromEntries(fields), rest: PERSON };
}

function accept(res: HttpResponse, rowOf: Post["rowOf"]): void {
  const post: Post = { res, rowOf, fields: new Map(), aborted: false, id: 0 };
  res.onAborted(() => {
    post.aborted = true;
  });
  readBody(res, (body) => {
    post.fields = parseForm(body);
    batch.push(post);
    if (batch.length === 1) setImmediate(commit);
  });
}
serveBaseline(app, () => environment.close());

function commit(): void {
  const posts = batch;
  batch = [];
  const time = Date.now();
  // A block body: returning a put's promise would leave the transaction open (pitfalls 1.1).
  environment.transactionSync(() => {
    for (const post of posts) {
      lastId += 1;
      post.id = lastId;
      const row = { id: lastId, ...post.rowOf(post.fields), time };
      // In a synchronous transaction the row is written when `put` returns; its promise adds nothing.
      void messages.put(lastId, packr.pack(row));
    }
  });
  for (const post of posts) {
    if (!post.aborted) answerJson(post.res, `{"result":"success","msg":"","id":${post.id}}`);
  }
}
