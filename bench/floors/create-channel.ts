// Floor of `create-channel`: a bare uWebSockets.js + lmdb server that writes, for each subscriber of the list in the form, one row
// of the size of a subscription, all in one transaction, and answers after its flush. No people, no permissions, no events, no
// slices: whoever else waits, waits for all of it.

import { App } from "uWebSockets.js";
import { open } from "lmdb";
import { Packr } from "msgpackr";
import { answerJson, parseForm, readBody, serveFloor } from "./floor.ts";

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
serveFloor(app, () => environment.close());

/** In the order of the ids, which is the order of the keys: the cheapest for the tree. */
function write(channel: number, subscribers: readonly number[]): void {
  environment.transactionSync(() => {
    for (const id of subscribers) {
      const stay = [channel, channel, null, null];
      const row = [1, id, channel, true, "#76ce90", false, false, [null, null, null, null, null], [stay]];
      // In a synchronous transaction the row is written when `put` returns; its promise says nothing more.
      void rows.put([id, channel], packr.pack(row));
    }
  });
}
