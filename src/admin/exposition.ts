/** Metrics in the text format of Prometheus. prom-client renders; it counts nothing, because that costs more. */
import { setImmediate } from "node:timers/promises";
import { type Metric, Registry } from "prom-client";
import type { Sample } from "../metrics/instruments.ts";

export interface Family {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  /** Read when somebody asks. */
  read(): Iterable<Sample>;
}

export interface Exposition {
  readonly contentType: string;
  /** Yields between families, because those of a thousand organizations take a while. */
  text(): Promise<string>;
}

export function expositionOf(families: readonly Family[]): Exposition {
  const registry = new Registry();
  for (const { name, type, help, read } of families) {
    const get = () => Promise.resolve({ name, type, help, values: [...read()].map((sample) => shown(name, sample)) });
    // The registry needs only `name` and `get`; its type asks for one of its own instruments.
    registry.registerMetric({ name, get } as unknown as Metric);
  }
  return {
    contentType: registry.contentType,
    async text() {
      const parts: string[] = [];
      for (const { name } of families) {
        parts.push(await registry.getSingleMetricAsString(name));
        await setImmediate();
      }
      return `${parts.join("\n")}\n`;
    },
  };
}

function shown(name: string, { labels, value, suffix }: Sample) {
  return { labels, value, ...(suffix === undefined ? {} : { metricName: `${name}${suffix}` }) };
}
