/** Chooses the transport: uWebSockets.js where its binary loads, Node's own modules elsewhere (docs/transport.md). */
import { loadNative } from "./native.ts";
import { nodeTransport } from "./node.ts";
import type { Transport } from "./transport.ts";

export const transportChoices = ["auto", "native", "node"] as const;
export type TransportChoice = (typeof transportChoices)[number];

export interface LoadedTransport {
  readonly transport: Transport;
  /** Why this transport was chosen, for the log. */
  readonly why: string;
  /** `auto` had to use Node's transport. */
  readonly isFallback: boolean;
}

/** The binary does not load although TRANSPORT=native requires it. */
export class NoNativeTransport extends Error {
  override readonly name = "NoNativeTransport";
}

/**
 * @param load loads the native transport; tests replace it
 * @throws NoNativeTransport
 */
export async function loadTransport(choice: TransportChoice, load = loadNative): Promise<LoadedTransport> {
  if (choice === "node") return { transport: nodeTransport, why: "TRANSPORT=node", isFallback: false };
  try {
    const transport = await load();
    return { transport, why: choice === "native" ? "TRANSPORT=native" : "its binary loads here", isFallback: false };
  } catch (error) {
    const why = `uWebSockets.js has no binary that loads here (Node ${process.versions.node}, ${process.platform} ${process.arch}: ${reasonOf(error)})`;
    if (choice === "native") throw new NoNativeTransport(why);
    return { transport: nodeTransport, why, isFallback: true };
  }
}

/** The library's message names the versions it supports and then the system's error; the latter is the cause. */
function reasonOf(error: unknown): string {
  const lines = String(error instanceof Error ? error.message : error).split("\n");
  return (lines.find((line) => line.startsWith("Error: ")) ?? lines[0] ?? "").replace(/^Error: /, "");
}
