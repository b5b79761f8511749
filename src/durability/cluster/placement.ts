/**
 * Chooses the node that an organization belongs to, by rendezvous hashing. Each node has a score for each organization,
 * and the highest one wins, so a node that joins or leaves moves only its own share.
 */
import { createHash } from "node:crypto";
import { limits } from "../../../schemas/limits.ts";

export interface Candidate {
  readonly node: string;
  /** It has read every stream to its end, so it can serve at once. */
  readonly isReady: boolean;
  /** An operator wants it to give its organizations away. */
  readonly isDraining: boolean;
}

/** Scores that were computed before: a node looks at all organizations several times a second. */
export class KnownScores {
  readonly #known = new Map<string, number>();

  get size(): number {
    return this.#known.size;
  }

  of(realmId: number, node: string): number {
    const name = `${node}/${realmId}`;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    if (this.#known.size >= limits.cluster_scores_max) this.#known.clear();
    const made = score(name);
    this.#known.set(name, made);
    return made;
  }
}

/**
 * @param pin the node that an operator chose; it counts while that node is there
 * @returns null if there are no candidates
 */
export function preferredNode<Node extends Candidate>(
  realmId: number,
  candidates: readonly Node[],
  pin: string | null,
  scores = new KnownScores(),
): Node | null {
  const ready = someOf(candidates, ({ isReady }) => isReady);
  const pinned = ready.find(({ node, isDraining }) => node === pin && !isDraining);
  if (pinned !== undefined) return pinned;
  let best: Node | null = null;
  for (const candidate of someOf(ready, ({ isDraining }) => !isDraining)) {
    if (best === null || scores.of(realmId, candidate.node) > scores.of(realmId, best.node)) best = candidate;
  }
  return best;
}

/** Those that have a property, unless none has it. */
function someOf<T>(all: readonly T[], has: (one: T) => boolean): readonly T[] {
  const some = all.filter(has);
  return some.length === 0 ? all : some;
}

function score(name: string): number {
  return createHash("sha256").update(name).digest().readUIntBE(0, 6);
}
