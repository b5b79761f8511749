// Baseline of `delete-topic`: a bare uWebSockets.js + lmdb server with a topic of as many messages as the real one,
// each a row of the same size and an entry in two indexes. It deletes them newest first, as many per transaction as the
// real server, with a flush and a pass of the event loop after each. No users, permissions, events or search.

import { App } from "uWebSockets.js";
import { open } from "lmdb";
import { Packr } from "msgpackr";
import { answerJson, parseForm, readBody, serveBaseline } from "./baseline.ts";

const BATCH = 100;
const ROWS_PER_TRANSACTION = 10_000;

const packr = new Packr({ useRecords: false });
const environment = open({ path: process.env["DATA_DIR"] ?? "", overlappingSync: false, maxDbs: 4 });
const messages = environment.openDB<Buffer, number>({ name: "messages", encoding: "binary" });
const indexes = ["channelMessages", "conversationMessages"].map((name) =>
  environment.openDB<Buffer, [number, number]>({ name, encoding: "binary" }),
);

const app = App();
/** Stores `count` messages before anything is measured. */
app.post("/fill", (res) => {
  let isAborted = false;
  res.onAborted(() => {
    isAborted = true;
  });
  readBody(res, (body) => {
    fill(Number(parseForm(body).get("count")));
    if (!isAborted) answerJson(res, '{"result":"success","msg":""}');
  });
});
app.post("/api/v1/streams/1/delete_topic", (res) => {
  let isAborted = false;
  res.onAborted(() => {
    isAborted = true;
  });
  readBody(res, () => {
    deleteBatch(() => {
      if (!isAborted) answerJson(res, '{"result":"success","msg":"","complete":true}');
    });
  });
});
serveBaseline(app, () => environment.close());

function fill(count: number): void {
  const entry = packr.pack([1, 3, 0]);
  const text = "w".repeat(200);
  for (let first = 1; first <= count; first += ROWS_PER_TRANSACTION) {
    environment.transactionSync(() => {
      for (let id = first; id < Math.min(first + ROWS_PER_TRANSACTION, count + 1); id += 1) {
        // In a synchronous transaction the row is written when `put` returns; its promise adds nothing.
        void messages.put(
          id,
          packr.pack([1, id, 1, 3, text, `<p>${text}</p>`, Date.now(), null, [], [], 0, "bench", []]),
        );
        for (const index of indexes) void index.put([1, id], entry);
      }
    });
  }
}

function deleteBatch(done: () => void): void {
  const ids = [...messages.getKeys({ reverse: true, limit: BATCH })];
  if (ids.length === 0) {
    done();
    return;
  }
  environment.transactionSync(() => {
    for (const id of ids) {
      void messages.remove(id);
      for (const index of indexes) void index.remove([1, id]);
    }
  });
  setImmediate(() => deleteBatch(done));
}
