/**
 * Shared by the Node peers: creates accounts and channel at the start, sends an IPC message when it listens, stops on
 * SIGTERM, and writes the metrics file on SIGUSR2 in this server's format (bench/baselines/baseline.ts).
 */
import { renameSync, writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

export const HOST = "127.0.0.1";
/** A client that does not read loses its socket, as on any robust server. */
export const BACKPRESSURE_BYTES_MAX = 1024 * 1024;
const NANOSECONDS_PER_MS = 1_000_000;
/** The other servers' sampling interval. It is part of each sample, so it is subtracted. */
const DELAY_RESOLUTION_MS = 5;

/**
 * @param database of `openDatabase`
 * @param {() => Promise<number>} listen listens on a free port and returns it
 * @param {() => Promise<void>} close ends all connections
 */
export async function serve(database, listen, close) {
  const stop = () => {
    close()
      .then(() => database.close())
      .then(
        () => process.exit(0),
        () => process.exit(1),
      );
  };
  process.once("SIGTERM", stop);
  process.once("disconnect", stop);
  writeMetricsOnSignal();
  const created = await database.createAccounts(Number(process.env["PEER_ACCOUNTS"]));
  process.send?.({ port: await listen(), ...created });
}

/** The key in an Authorization header; empty if there is none. */
export function bearerOf(header) {
  return header?.startsWith("Bearer ") ? header.slice("Bearer ".length) : "";
}

function writeMetricsOnSignal() {
  const file = process.env["METRICS_FILE"];
  if (file === undefined) return;
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
  const ms = (nanoseconds) => Math.max(0, nanoseconds / NANOSECONDS_PER_MS - DELAY_RESOLUTION_MS);
  process.on("SIGUSR2", () => {
    const metrics = {
      event_loop_delay_ms: { p50: ms(delay.percentile(50)), p99: ms(delay.percentile(99)), max: ms(delay.max) },
    };
    delay.reset();
    writeFileSync(`${file}.part`, JSON.stringify(metrics));
    renameSync(`${file}.part`, file);
  });
}
