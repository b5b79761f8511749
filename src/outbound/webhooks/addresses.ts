/**
 * Which addresses an outgoing webhook may be sent to: of the public internet, unless private ones are allowed. Looked at after the
 * name was looked up, and what was looked at is what is connected to: no second look-up can give another address.
 */
import { type LookupAddress, lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { limits } from "../../../schemas/limits.ts";
import { Turnstile } from "../turnstile.ts";
import { Undeliverable } from "./undeliverable.ts";

/** All that is handed out for the public internet of IPv6; older forms that hold an IPv4 address are not in it. */
const globalIpv6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** Neither private, nor of this machine or this link, nor of many, nor of nobody. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // An IPv4 address in the clothes of IPv6 is that IPv4 address.
  const parsed = ipaddr.process(address);
  if (parsed.range() !== "unicast") return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(globalIpv6);
}

/** The host of a URL that is an address already is never looked up, so it is checked here. @throws Undeliverable */
export function checkLiteral(hostname: string): void {
  const address = hostname.replace(/^\[(.*)\]$/, "$1");
  if (isIP(address) !== 0 && !isPublicAddress(address)) throw new Undeliverable("private");
}

const lookups = new Turnstile(limits.webhook_name_lookups_concurrent_max);

/** As `lookup` of node:net, with public addresses alone. */
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

/** Any address. */
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
