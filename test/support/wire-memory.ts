/**
 * The memory budget that connections share, with the server's bounds; for servers and sessions that a test wires
 * itself.
 */
import { limits } from "../../schemas/limits.ts";
import { ByteBudget } from "../../src/runtime/byte-budget.ts";
import { UnsentBytes } from "../../src/runtime/unsent-bytes.ts";

export function wireMemory(monotonic: () => number): { readonly unsent: UnsentBytes; readonly inFlight: ByteBudget } {
  return {
    unsent: new UnsentBytes({
      bytesMax: limits.unsent_bytes_max,
      shareBytesMax: limits.unsent_bytes_per_user_max,
      keptMsMin: limits.unsent_kept_ms_min,
      monotonic,
    }),
    inFlight: new ByteBudget(limits.requests_in_flight_bytes_max, limits.requests_in_flight_bytes_per_sender_max),
  };
}
