// Baseline of `fanout`, `typing` and `idle`: a bare uWebSockets.js server that publishes the bytes of a real event to
// every socket. A post parses its form and publishes the frame of its kind with the post's marker; nothing is stored.
// Sockets subscribe to one topic when they open and get a reply to their registration. Frames and response are in
// FRAMES_FILE.

import { App } from "uWebSockets.js";
import { readFileSync } from "node:fs";
import { MARKER, MARKER_DIGITS, MARKER_DIGITS_OFFSET, markerOffsets, patchMarkers } from "../lib/http-request.ts";
import { REGISTER_REF } from "../lib/job.ts";
import { answerJson, parseForm, readBody, serveBaseline } from "./baseline.ts";

/** The content of FRAMES_FILE, written by the parent. */
export interface BaselineFrames {
  /**
   * A post whose `op` is "stop" publishes the second frame, any other the first. MARKER is replaced by the post's
   * number.
   */
  readonly frames: readonly string[];
  /** Body of the response to a post. */
  readonly answer: string;
}

const TOPIC = "everybody";
/** The real server's soft bound for one socket's buffer. */
const BACKPRESSURE_BYTES_MAX = 1024 * 1024;

const prepared = JSON.parse(readFileSync(process.env["FRAMES_FILE"] ?? "", "utf8")) as BaselineFrames;
const frames = prepared.frames.map((text) => {
  const bytes = Buffer.from(text, "utf8");
  return { bytes, offsets: markerOffsets(bytes) };
});
const answer = Buffer.from(prepared.answer, "utf8");
const registered = JSON.stringify({ type: "reply", ref: REGISTER_REF, result: "success", msg: "" });

const app = App();
app.ws("/api/v1/events/ws", {
  maxBackpressure: BACKPRESSURE_BYTES_MAX,
  closeOnBackpressureLimit: true,
  idleTimeout: 120,
  open: (socket) => {
    socket.subscribe(TOPIC);
  },
  message: (socket) => {
    socket.send(registered, false);
  },
});
app.post("/*", (res) => {
  let aborted = false;
  res.onAborted(() => {
    aborted = true;
  });
  readBody(res, (body) => {
    publish(parseForm(body));
    if (!aborted) answerJson(res, answer);
  });
});
serveBaseline(app);

function publish(form: Map<string, string>): void {
  const frame = frames[form.get("op") === "stop" ? 1 : 0];
  if (frame === undefined) return;
  const text = form.get("content") ?? form.get("topic") ?? "";
  const at = text.indexOf(MARKER.slice(0, MARKER_DIGITS_OFFSET)) + MARKER_DIGITS_OFFSET;
  patchMarkers(frame.bytes, frame.offsets, Number(text.slice(at, at + MARKER_DIGITS)));
  app.publish(TOPIC, frame.bytes, false);
}
