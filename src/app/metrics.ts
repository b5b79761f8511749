/** Event-loop delay, memory and CPU of this process on demand: SIGUSR2 writes them to METRICS_FILE and resets them. */
import { writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { askSystem } from "../metrics/instruments.ts";

const nanosecondsPerMs = 1e6;
const resolutionMs = 5;

export function offerMetrics(file: string): void {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  process.on("SIGUSR2", () => {
    const cpu = process.cpuUsage();
    const metrics = {
      event_loop_delay_ms: {
        p50: delay.percentile(50) / nanosecondsPerMs - resolutionMs,
        p99: delay.percentile(99) / nanosecondsPerMs - resolutionMs,
        max: delay.max / nanosecondsPerMs - resolutionMs,
      },
      rss_bytes: askSystem(() => process.memoryUsage.rss(), null),
      cpu_user_s: cpu.user / 1e6,
      cpu_system_s: cpu.system / 1e6,
    };
    delay.reset();
    // A full disk, or no descriptor, must not end the process.
    askSystem(() => writeFileSync(file, `${JSON.stringify(metrics)}\n`), undefined);
  });
}
