/** The addresses that an operator gives a node of a cluster, read before anything of NATS is loaded. */
import { limits } from "../../../schemas/limits.ts";

export interface NatsAddresses {
  /** `host:port` of each server. */
  readonly servers: readonly string[];
  readonly user?: string;
  readonly password?: string;
}

/**
 * Reads `nats://[user:password@]host[:port],host[:port]`. Further servers may repeat what is in front of the first one.
 * @returns null if the text is nothing like it, or servers differ in what is in front of them
 */
export function parseNatsAddresses(text: string): NatsAddresses | null {
  const [, before, user, password] = /^((?:nats|tls):\/\/(?:([^\s:@/,]+):([^\s@/,]+)@)?)/.exec(text) ?? [];
  if (before === undefined) return null;
  const hosts = text.split(",").map((one) => (one.startsWith(before) ? one.slice(before.length) : one));
  const servers = hosts.map((host) => (/:\d+$/.test(host) ? host : `${host}:4222`));
  const isHost = (server: string) => /^(?:\[[0-9a-f:.]+\]|[\w.-]+):\d{1,5}$/i.test(server);
  if (servers.length > limits.cluster_addresses_max || !servers.every(isHost)) return null;
  if (user === undefined || password === undefined) return { servers };
  try {
    return { servers, user: decodeURIComponent(user), password: decodeURIComponent(password) };
  } catch {
    return null;
  }
}

/** Reads `http://host:port,http://host:port`. @returns null if the text is nothing like it */
export function parseMonitors(text: string): string[] | null {
  const monitors = text.split(",");
  const isPage = (address: string) => /^https?:\/\/(?:\[[0-9a-f:.]+\]|[\w.-]+)(?::\d{1,5})?$/i.test(address);
  return monitors.length <= limits.cluster_addresses_max && monitors.every(isPage) ? monitors : null;
}
