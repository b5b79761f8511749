// Shared by all baseline servers: listening on a free port, reporting it to the parent, bodies, forms, and the metrics
// file on SIGUSR2. A baseline does the minimum that any server of its kind must do, on the same libraries; it checks
// neither credentials nor parameters. It follows the uWS rules: onAborted first, chunks copied (pitfalls 2.1, 2.2).

import { type HttpResponse, type TemplatedApp, us_socket_local_port } from "uWebSockets.js";
import { renameSync, writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

/** Sent to the parent over IPC when the baseline accepts connections. */
export interface BaselineReady {
  readonly port: number;
}

export const BASELINE_HOST = "127.0.0.1";
const NANOSECONDS_PER_MS = 1_000_000;
/** The real server's sampling interval. It is part of each sample, so it is subtracted. */
const DELAY_RESOLUTION_MS = 5;

/** Listens on a free loopback port and reports it. Stops with its parent or on SIGTERM, after `onStop`. */
export function serveBaseline(app: TemplatedApp, onStop: () => Promise<void> = () => Promise.resolve()): void {
  app.get("/api/v1/server_settings", (res) => answerJson(res, '{"result":"success","msg":""}'));
  app.listen(BASELINE_HOST, Number(process.env["PORT"] ?? 0), (token) => {
    if (token === false) throw new Error("the baseline could not listen");
    const ready: BaselineReady = { port: us_socket_local_port(token) };
    process.send?.(ready);
  });
  const stop = (): void => {
    onStop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.once("SIGTERM", stop);
  process.once("disconnect", stop);
  writeMetricsOnSignal();
}

/** Collects a whole body; `onBody` is not called if the client disconnects before its end. */
export function readBody(res: HttpResponse, onBody: (body: Buffer) => void): void {
  let chunks: Buffer | null = null;
  res.onData((chunk, isLast) => {
    const bytes = Buffer.from(chunk);
    // The chunk's memory is reused after this call, so every chunk except the last is copied.
    if (isLast) onBody(chunks === null ? bytes : Buffer.concat([chunks, bytes]));
    else chunks = chunks === null ? Buffer.from(bytes) : Buffer.concat([chunks, bytes]);
  });
}

/** Parses a form-encoded body. */
export function parseForm(body: Buffer): Map<string, string> {
  const fields = new Map<string, string>();
  for (const pair of body.toString("latin1").split("&")) {
    const equals = pair.indexOf("=");
    if (equals === -1) continue;
    fields.set(pair.slice(0, equals), decodeFormText(pair.slice(equals + 1)));
  }
  return fields;
}

/** Responds with 200 and JSON; `body` is text or prepared bytes. */
export function answerJson(res: HttpResponse, body: string | Buffer): void {
  res.cork(() => {
    res.writeHeader("Content-Type", "application/json");
    res.end(body);
  });
}

function decodeFormText(text: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  return spaced.includes("%") ? decodeURIComponent(spaced) : spaced;
}

function writeMetricsOnSignal(): void {
  const file = process.env["METRICS_FILE"];
  if (file === undefined) return;
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
  process.on("SIGUSR2", () => {
    const ms = (nanoseconds: number): number => Math.max(0, nanoseconds / NANOSECONDS_PER_MS - DELAY_RESOLUTION_MS);
    const { user, system } = process.cpuUsage();
    const metrics = {
      event_loop_delay_ms: { p50: ms(delay.percentile(50)), p99: ms(delay.percentile(99)), max: ms(delay.max) },
      rss_bytes: process.memoryUsage.rss(),
      cpu_user_s: user / 1_000_000,
      cpu_system_s: system / 1_000_000,
    };
    delay.reset();
    writeFileSync(`${file}.part`, JSON.stringify(metrics));
    renameSync(`${file}.part`, file);
  });
}
