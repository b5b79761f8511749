/**
 * The header by which a node tells another one for whom it forwards a request. It has the key of the cluster, which no
 * client knows, so only nodes can claim an address; and no node passes on what a client sends under its name.
 */
import { timingSafeEqual } from "node:crypto";
import type { Forwarded, ReadForwarded } from "../http/forwarded.ts";

export const nodeHeader = "x-colloquy-node";
/** In an answer to another node: nothing was done, because the organization is elsewhere. */
export const elsewhereHeader = "x-colloquy-elsewhere";

/** The facts about a client from the node that has its connection. */
export interface ForwardedClient {
  readonly address: string;
  readonly isSecure: boolean;
}

export function nodeHeaderOf(key: string, { address, isSecure }: ForwardedClient): string {
  return `${key} ${isSecure ? "https" : "http"} ${address}`;
}

/** @returns null unless a node of the cluster wrote it */
export function readNodeHeader(value: string, key: string): ForwardedClient | null {
  if (value === "") return null;
  const [given = "", scheme = "", address = ""] = value.split(" ");
  const [a, b] = [Buffer.from(given), Buffer.from(key)];
  if (key === "" || a.length !== b.length || !timingSafeEqual(a, b)) return null;
  return { address, isSecure: scheme === "https" };
}

/** The header of a node takes precedence over that of a proxy. @param key of the cluster */
export function readForwardedByNodes(key: () => string, otherwise: ReadForwarded): ReadForwarded {
  return (headers): Forwarded => readNodeHeader(headers.getHeader(nodeHeader), key()) ?? otherwise(headers);
}
