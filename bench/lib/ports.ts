// Ports for programs that a bench or a test starts. They lie below those that the system gives to outgoing connections,
// which would take one that is free for a moment, as while a program restarts; and each process begins elsewhere.

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";

/** Above the last one, 10080, of the ports that browsers and `fetch` refuse to use. */
const firstPort = 10_081;
/** Where the ports for outgoing connections begin. */
const endPort = Number(/\d+/.exec(readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8"))?.[0] ?? 32_768);
const portsOfProcess = 40;

let next = firstPort + ((process.pid * portsOfProcess) % Math.max(endPort - firstPort, 1));

/** A port that is free and that this process has not got before. */
export async function freePort(): Promise<number> {
  return freePortRange(1);
}

/** @returns the first of so many consecutive ports */
export async function freePortRange(count: number): Promise<number> {
  if (endPort < firstPort + 2 * portsOfProcess)
    throw new Error(`ip_local_port_range begins at ${endPort}: no ports are left`);
  for (;;) {
    if (next + count > endPort) next = firstPort;
    const first = next;
    next += count;
    const are = await Promise.all(Array.from({ length: count }, (_, index) => isFree(first + index)));
    if (are.every(Boolean)) return first;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  const isListening = await once(server, "listening").then(
    () => true,
    () => false,
  );
  if (isListening) await new Promise((resolve) => server.close(resolve));
  return isListening;
}
