/** Work on many things that lets others have their turn. */
import { limits } from "../../../schemas/limits.ts";
import type { Clock } from "../../runtime/clock.ts";

/** Begins at once and goes on in later passes of the event loop. */
export function inPieces<T>(clock: Clock, all: readonly T[], work: (one: T) => void): void {
  for (const one of all.slice(0, limits.gate_piece_sockets)) work(one);
  const rest = all.slice(limits.gate_piece_sockets);
  if (rest.length > 0) clock.soon(() => inPieces(clock, rest, work));
}
