// Baseline of `reconnect`: a bare uWebSockets.js server that publishes the bytes of a real event to every socket and
// keeps them in memory. A client that reconnects with its last event id gets the later events in one frame. No accounts
// or queues, and nothing is stored. Frame and response are in FRAMES_FILE, as for bench/baselines/publish.ts.

import { App } from "uWebSockets.js";
import { readFileSync } from "node:fs";
import { markerIn, markerOffsets, patchMarkers } from "../lib/http-request.ts";
import { REGISTER_REF } from "../lib/job.ts";
import { answerJson, parseForm, readBody, serveBaseline } from "./baseline.ts";
import type { BaselineFrames } from "./publish.ts";

const TOPIC = "everybody";
const prepared = JSON.parse(readFileSync(process.env["FRAMES_FILE"] ?? "", "utf8")) as BaselineFrames;
const answer = Buffer.from(prepared.answer, "utf8");
/** The event without its id, which is appended last. */
const event = Buffer.from(eventOf(prepared.frames[0] ?? "{}"), "utf8");
const offsets = markerOffsets(event);
const replied = JSON.stringify({ type: "reply", ref: REGISTER_REF, result: "success", msg: "", queue_id: "baseline" });
/** Event i has the id i + 1. */
const log: string[] = [];

const app = App();
app.ws("/api/v1/events/ws", {
  idleTimeout: 120,
  message: (socket, message) => {
    const frame = JSON.parse(Buffer.from(message).toString("utf8")) as { readonly last_event_id?: number };
    socket.send(replied, false);
    const missed = frame.last_event_id === undefined ? [] : log.slice(frame.last_event_id);
    if (missed.length > 0) socket.send(`{"type":"events","events":[${missed.join(",")}]}`, false);
    socket.subscribe(TOPIC);
  },
});
app.post("/*", (res) => {
  let isAborted = false;
  res.onAborted(() => {
    isAborted = true;
  });
  readBody(res, (body) => {
    publish(markerIn(parseForm(body).get("content") ?? "") ?? 0);
    if (!isAborted) answerJson(res, answer);
  });
});
app.del("/*", (res) => answerJson(res, answer));
serveBaseline(app);

function publish(marker: number): void {
  patchMarkers(event, offsets, marker);
  const text = `${event.toString("utf8").slice(0, -1)},"id":${log.length + 1}}`;
  log.push(text);
  app.publish(TOPIC, `{"type":"event","event":${text}}`, false);
}

function eventOf(frame: string): string {
  const { event: one, events = [] } = JSON.parse(frame) as {
    readonly event?: object;
    readonly events?: readonly object[];
  };
  const { id: _, ...rest } = { id: 0, ...(one ?? events[0]) };
  return JSON.stringify(rest);
}
