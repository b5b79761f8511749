// Baseline of `create-channel`: a bare uWebSockets.js + lmdb server that writes one row of the size of a subscription
// for each subscriber in the form, in one transaction, and responds after its flush. No users, permissions, events or
// slices: other requests wait until it has finished.

import { App } from "uWebSockets.js";
import { open } from "lmdb";
import { Packr } from "msgpackr";
import { answerJson, parseForm, readBody, serveBaseline } from "./baseline.ts";

const packr = new Packr({ useRecords: false });
const environment = open({ path: process.env["DATA_DIR"] ?? "", overlappingSync: false, maxDbs: 4 });
const rows = environment.openDB<Buffer, [number, number]>({ name: "subscriptions", encoding: "binary" });

let lastChannel = 0;

const app = App();
app.post("/api/v1/channels/create", (res) => {
  let isAborted = false;
  res.onAborted(() => {
    isAborted = true;
  });
  readBody(res, (body) => {
    const subscribers = JSON.parse(parseForm(body).get("subscribers") ?? "[]") as number[];
    lastChannel += 1;
    write(lastChannel, subscribers);
    if (!isAborted) answerJson(res, `{"result":"success","msg":"","id":${lastChannel}}`);
  });
});
serveBaseline(app, () => environment.close());

/** In the order of ids, which is the order of keys, the cheapest for the B+ tree. */
function write(channel: number, subscribers: readonly number[]): void {
  environment.transactionSync(() => {
    for (const id of subscribers) {
      const stay = [channel, channel, null, null];
      const row = [1, id, channel, true, "#76ce90", false, false, [null, null, null, null, null], [stay]];
      // In a synchronous transaction the row is written when `put` returns; its promise adds nothing.
      void rows.put([id, channel], packr.pack(row));
    }
  });
}
