/**
 * Decides which addresses an outgoing webhook may be sent to: public internet addresses, unless private ones are
 * allowed. The check follows the DNS lookup, and the connection uses exactly the checked addresses, so a second lookup
 * cannot return another one.
 */
import { type LookupAddress, lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { limits } from "../../../schemas/limits.ts";
import { Semaphore } from "../delivery-limiter.ts";
import { Undeliverable } from "./undeliverable.ts";

/** All public IPv6 addresses; legacy forms with an embedded IPv4 address are outside of it. */
const globalIpv6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** Excludes private, loopback, link-local, multicast and unspecified addresses. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // An IPv4-mapped IPv6 address counts as its IPv4 address.
  const parsed = ipaddr.process(address);
  if (parsed.range() !== "unicast") return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(globalIpv6);
}

/**
 * A URL whose host is an IP address needs no lookup, so it is checked here.
 * @throws Undeliverable
 */
export function checkLiteral(hostname: string): void {
  const address = hostname.replace(/^\[(.*)\]$/, "$1");
  if (isIP(address) !== 0 && !isPublicAddress(address)) throw new Undeliverable("private");
}

const lookups = new Semaphore(limits.webhook_name_lookups_concurrent_max);

/** Like `lookup` of node:net, but returns public addresses only. */
export const lookUpPublic: LookupFunction = (hostname, options, callback) => {
  find(hostname, options, (error, found) => {
    const allowed = found.filter(({ address }) => isPublicAddress(address));
    give(
      options.all === true,
      error ?? (allowed.length === 0 ? new Undeliverable("private") : null),
      allowed,
      callback,
    );
  });
};

/** Returns any address. */
export const lookUpAny: LookupFunction = (hostname, options, callback) => {
  find(hostname, options, (error, found) => give(options.all === true, error, found, callback));
};

type Options = Parameters<LookupFunction>[1];
type Callback = Parameters<LookupFunction>[2];

function find(hostname: string, options: Options, done: (error: Error | null, found: LookupAddress[]) => void): void {
  void lookups.enter().then(() => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      lookups.leave();
      done(error, error === null ? found : []);
    });
  });
}

function give(wantsAll: boolean, error: Error | null, found: readonly LookupAddress[], callback: Callback): void {
  const [first] = found;
  if (error !== null || first === undefined) callback(error ?? new Error("no address"), "", 0);
  else if (wantsAll) callback(null, [...found]);
  else callback(null, first.address, first.family);
}
