// Calls from this process, one after the other over one keep-alive connection, each timed until its last byte. For
// measurements with untimed steps in between; the target has no other load.

import { Agent, request } from "node:http";
import type { Address } from "./http-connection.ts";
import { Probe, type Usage, type Watch } from "./probe.ts";
import { type LatencySummary, Recorder } from "./recorder.ts";
import type { Settings } from "./result.ts";

export interface TimedAnswer {
  readonly ms: number;
  readonly body: Buffer;
}

export class TimedCalls {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #address: Address;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param host the name of the organization, if the server has several */
  constructor({ address }: { readonly address: Address }, authorization: string, host?: string) {
    this.#address = address;
    this.#headers = { authorization, ...(host === undefined ? {} : { host }) };
  }

  /** Rejects with method, path and message on any status but 200. */
  call(
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    form: Readonly<Record<string, string>> = {},
  ): Promise<TimedAnswer> {
    const encoded = new URLSearchParams(form).toString();
    const isInBody = method === "POST" || method === "PATCH";
    const isInQuery = !isInBody && encoded !== "";
    return new Promise((resolve, reject) => {
      const from = performance.now();
      const sent = request({
        ...this.#address,
        agent: this.#agent,
        method,
        path: `/api/v1${path}${isInQuery ? `?${encoded}` : ""}`,
        headers: { ...this.#headers, ...(isInBody ? formHead(encoded) : {}) },
      });
      sent.once("error", reject);
      sent.once("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.once("error", reject);
        response.once("end", () => {
          const ms = performance.now() - from;
          const body = Buffer.concat(chunks);
          if (response.statusCode === 200) resolve({ ms, body });
          else reject(new Error(`${method} ${path} answered ${response.statusCode}: ${body.subarray(0, 300)}`));
        });
      });
      sent.end(isInBody ? encoded : undefined);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function formHead(encoded: string): Record<string, string | number> {
  return { "content-type": "application/x-www-form-urlencoded", "content-length": Buffer.byteLength(encoded) };
}

export interface Timed {
  readonly latency: LatencySummary;
  readonly usage: Usage;
}

/**
 * Calls `once` repeatedly, first as a warm-up and then through the window, at least once in each. `once` returns the
 * duration of its call.
 */
export async function timeCalls(
  watch: Watch | null,
  { warmupSeconds, durationSeconds }: Pick<Settings, "warmupSeconds" | "durationSeconds">,
  once: () => Promise<number>,
): Promise<Timed> {
  const warmUntil = performance.now() + warmupSeconds * 1000;
  do await once();
  while (performance.now() < warmUntil);
  const recorder = new Recorder(durationSeconds * 1000);
  const probe = new Probe(watch);
  const from = performance.now();
  probe.open();
  recorder.open(from);
  do {
    const ms = await once();
    const now = performance.now();
    recorder.latency(now - ms, now);
  } while (performance.now() < from + durationSeconds * 1000);
  recorder.close(performance.now());
  probe.close();
  return { latency: recorder.summary(), usage: await probe.report() };
}
