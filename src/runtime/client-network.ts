/** Identifies a client for limits when there is no authenticated user (D28, S3). */
import ipaddr from "ipaddr.js";

/** A home or a server has a whole IPv6 network. One limit per address would be no limit for it. */
const ipv6GroupsPerNetwork = 4;

/**
 * An IPv4 address, however it is written, or an IPv6 /64 counts as one client. Any other string is returned unchanged.
 */
export function clientNetwork(who: string): string {
  // The name of a user has one colon, and an address none or several. Parsing takes 7 us, and an event has many readers.
  const colon = who.indexOf(":");
  const isName = colon >= 0 && colon === who.lastIndexOf(":");
  return isName ? who : networkOf(who);
}

function networkOf(who: string): string {
  if (!ipaddr.isValid(who)) return who;
  const address = ipaddr.process(who);
  if (address instanceof ipaddr.IPv4) return address.toString();
  return `${address.parts
    .slice(0, ipv6GroupsPerNetwork)
    .map((part) => part.toString(16))
    .join(":")}::/64`;
}
