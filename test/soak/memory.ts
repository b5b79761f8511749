/**
 * What a server process holds, from outside: its heap through the inspector of Node, after a collection, so that nothing counts which
 * nobody refers to any more; the rest as the system counts it. Pages of files are the system's cache, apart from what is the process's own.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { WebSocket } from "ws";
import type { Program } from "../support/process.ts";
import type { Teardown } from "../support/server.ts";

/** In MiB. */
export interface Memory {
  /** Of objects, and of what they hold outside of the heap, after a collection. */
  readonly heapMib: number;
  /** What the system gave to the process alone, after a collection: the heap, and all that is allocated beside it. */
  readonly anonMib: number;
  /** Pages of files that are mapped, the store's among them. The system takes them back when it wants. */
  readonly fileMib: number;
  /** All that is resident, before the collection: with it, what the next collection would have freed. */
  readonly rssMib: number;
}

/** For a program's environment: it then says where it can be inspected. */
export const inspectable = { NODE_OPTIONS: "--inspect=127.0.0.1:0" } as const;

const usage = "(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())";

/** @returns measures a program that was started as `inspectable` */
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
    // What is only weakly held goes with the second.
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
