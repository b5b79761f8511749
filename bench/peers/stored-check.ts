// Guards against a fast peer that responds without storing anything.

import { MARKER } from "../lib/http-request.ts";
import type { Check } from "../lib/result.ts";
import type { Peer } from "./peer.ts";

/** Checks that each peer's newest message is one of the run. */
export function storedChecks(peers: readonly Peer[]): Promise<Check[]> {
  return Promise.all(
    peers.map(async (peer) => {
      const content = await peer.newestContent();
      const ok = content.includes(MARKER.slice(0, 2));
      return { name: `${peer.label}: the newest message can be read back`, ok, detail: content.slice(0, 80) };
    }),
  );
}
