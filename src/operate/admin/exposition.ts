/** Metrics in the text format of Prometheus. prom-client renders; it counts nothing, because that costs more. */
import { setImmediate } from "node:timers/promises";
import type { Metric, Registry } from "prom-client";
import type { Sample } from "../../metrics/instruments.ts";

export interface Family {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  /** Read when somebody asks. */
  read(): Iterable<Sample>;
}

export interface Exposition {
  /** Yields between families, because those of a thousand organizations take a while. */
  read(): Promise<{ readonly contentType: string; readonly body: string }>;
}

export function expositionOf(families: readonly Family[]): Exposition {
  let registry: Registry | null = null;
  return {
    async read() {
      registry ??= await registryOf(families);
      const parts: string[] = [];
      for (const { name } of families) {
        parts.push(await registry.getSingleMetricAsString(name));
        await setImmediate();
      }
      return { contentType: registry.contentType, body: `${parts.join("\n")}\n` };
    },
  };
}

/** The package is loaded at the first reading: a server without a reader saves its memory. */
async function registryOf(families: readonly Family[]): Promise<Registry> {
  const { Registry } = await import("prom-client");
  const registry = new Registry();
  for (const { name, type, help, read } of families) {
    const get = () => Promise.resolve({ name, type, help, values: [...read()].map((sample) => shown(name, sample)) });
    // The registry needs only `name` and `get`; its type asks for one of its own instruments.
    registry.registerMetric({ name, get } as unknown as Metric);
  }
  return registry;
}

function shown(name: string, { labels, value, suffix }: Sample) {
  return { labels, value, ...(suffix === undefined ? {} : { metricName: `${name}${suffix}` }) };
}
