/**
 * The memory of a server process, measured from outside: its heap through Node's inspector after a garbage collection,
 * the rest by the kernel. Pages of files belong to the system's cache, not to the process.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { WebSocket } from "ws";
import type { Program } from "../support/process.ts";
import type { Teardown } from "../support/server.ts";

/** In MiB. */
export interface Memory {
  /** Objects and their memory outside the heap, after a collection. */
  readonly heapMib: number;
  /** Anonymous memory of the process, after a collection: the heap and everything allocated outside it. */
  readonly anonMib: number;
  /** Mapped pages of files, including the store's. The system can reclaim them. */
  readonly fileMib: number;
  /** Resident memory before the collection, including garbage. */
  readonly rssMib: number;
}

/** Environment with which a program prints its inspector address. */
export const inspectable = { NODE_OPTIONS: "--inspect=127.0.0.1:0" } as const;

const usage = "(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())";

/** @returns a function that measures a program started as `inspectable` */
export async function inspect(t: Teardown, program: Program): Promise<() => Promise<Memory>> {
  const [, url = ""] = await program.complained(/(ws:\/\/\S+)/);
  const socket = new WebSocket(url);
  t.teardown(() => socket.terminate());
  await once(socket, "open");
  let sent = 0;
  const call = async (method: string, params: object = {}): Promise<unknown> => {
    const id = ++sent;
    socket.send(JSON.stringify({ id, method, params }));
    for (;;) {
      const [data] = (await once(socket, "message")) as [Buffer];
      const answer = JSON.parse(data.toString()) as { id?: number; result?: { result?: { value?: unknown } } };
      if (answer.id === id) return answer.result?.result?.value;
    }
  };
  return async () => {
    const rssMib = statusMib(program.pid, "VmRSS");
    // The second collection frees weakly held objects.
    await call("HeapProfiler.collectGarbage");
    await call("HeapProfiler.collectGarbage");
    const heapMib = Number(await call("Runtime.evaluate", { expression: usage })) / 2 ** 20;
    return {
      heapMib,
      rssMib,
      anonMib: statusMib(program.pid, "RssAnon"),
      fileMib: statusMib(program.pid, "RssFile"),
    };
  };
}

function statusMib(pid: number, name: string): number {
  const line = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1] ?? 0) / 1024;
}
