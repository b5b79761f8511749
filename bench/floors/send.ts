// Floor of `send` and `start`: a bare uWebSockets.js + lmdb server with the durability that the real one promises. It parses the form,
// stores one row per post, and answers after the flush: one transactionSync per setImmediate batch, overlappingSync off
// (pitfalls 1.1, 1.2, 2.4). No users, no permissions, no indexes, no events, no rendering.

import { App, type HttpResponse } from "uWebSockets.js";
import { open } from "lmdb";
import { Packr } from "msgpackr";
import { answerJson, parseForm, readBody, serveFloor } from "./floor.ts";

interface Post {
  readonly res: HttpResponse;
  fields: Map<string, string>;
  aborted: boolean;
  id: number;
}

const packr = new Packr({ useRecords: false });
const environment = open({ path: process.env["DATA_DIR"] ?? "", overlappingSync: false, maxDbs: 4 });
const messages = environment.openDB<Buffer, number>({ name: "messages", encoding: "binary" });

let lastId = 0;
let batch: Post[] = [];

const app = App();
app.post("/api/v1/messages", (res) => {
  const post: Post = { res, fields: new Map(), aborted: false, id: 0 };
  res.onAborted(() => {
    post.aborted = true;
  });
  readBody(res, (body) => {
    post.fields = parseForm(body);
    batch.push(post);
    if (batch.length === 1) setImmediate(commit);
  });
});
serveFloor(app, () => environment.close());

function commit(): void {
  const posts = batch;
  batch = [];
  const time = Date.now();
  // A block body: returning a put's promise would leave the transaction open (pitfalls 1.1).
  environment.transactionSync(() => {
    for (const post of posts) {
      lastId += 1;
      post.id = lastId;
      const { fields } = post;
      const row = {
        id: lastId,
        to: fields.get("to"),
        topic: fields.get("topic"),
        content: fields.get("content"),
        time,
      };
      // In a synchronous transaction the row is written when `put` returns; its promise says nothing more.
      void messages.put(lastId, packr.pack(row));
    }
  });
  for (const post of posts) {
    if (!post.aborted) answerJson(post.res, `{"result":"success","msg":"","id":${post.id}}`);
  }
}
