/** Who a client is to limits of all kinds, where no person is known (D28, S3). */
import ipaddr from "ipaddr.js";

/** A home or a server has a whole network of IPv6 addresses: with a limit for each, it would have no limit. */
const ipv6GroupsPerNetwork = 4;

/** What counts as one client: an IPv4 address, however it is written, or a /64 of IPv6. Anything else stands for itself. */
export function clientNetwork(who: string): string {
  if (!ipaddr.isValid(who)) return who;
  const address = ipaddr.process(who);
  if (address instanceof ipaddr.IPv4) return address.toString();
  return `${address.parts
    .slice(0, ipv6GroupsPerNetwork)
    .map((part) => part.toString(16))
    .join(":")}::/64`;
}
