/**
 * Chooses the next request. Every type of command is drawn here, drawn by the random commands of other tests, or sent
 * by the server itself.
 */
import fc from "fast-check";
import { type Command, type CommandType, command } from "../../actors/protocol/decision.ts";
import { realm } from "../areas/draws.ts";
import { type AllDraws, areaCases, merged } from "../areas/index.ts";
import { anyCommand } from "../support/random-commands.ts";
import type { Draw, World } from "./world.ts";

/** A missing type is a compile error. */
const draws: Readonly<Record<CommandType, Draw | null>> = merged((cases) => cases.draws) as AllDraws;

export const commandTypes = Object.keys(draws) as CommandType[];

const weights = merged(({ weights }) => weights);

/** Commands that endpoints with the role "human" never create for bots. */
const ofPeople: ReadonlySet<CommandType> = new Set(areaCases.flatMap(({ ofPeople = [] }) => ofPeople));

/** Per draw while the organization is deactivated. Until then the requests of users are rejected. */
const reactivationChance = 0.1;

interface Weighted {
  readonly type: CommandType;
  readonly draw: Draw;
  readonly weight: number;
}

const weighted: readonly Weighted[] = commandTypes.flatMap((type) => {
  const draw = draws[type];
  return draw === null ? [] : [{ type, draw, weight: weights[type] ?? 1 }];
});
const total = weighted.reduce((sum, { weight }) => sum + weight, 0);

/** Number of random commands generated at a time. */
const chunk = 50;

export class Catalogue {
  readonly #world: World;
  readonly #hasOccurred: (type: CommandType) => boolean;
  #others: Command[] = [];
  /** Index of the type that was last drawn in turn. */
  #turn: number;

  /** @param hasOccurred whether a command of this type has succeeded in this run */
  constructor(world: World, hasOccurred: (type: CommandType) => boolean) {
    this.#world = world;
    this.#hasOccurred = hasOccurred;
    this.#turn = world.random.below(weighted.length);
  }

  next(): Command {
    for (;;) {
      const request = this.#drawn();
      if (!ofPeople.has(request.type) || this.#isOfPerson(request)) return request;
    }
  }

  /** An id that nobody has yet may become a bot's before the command is decided. */
  #isOfPerson({ callerId }: Command): boolean {
    return callerId === null || this.#world.replica.get("users", callerId)?.botType === null;
  }

  #drawn(): Command {
    const { random, replica } = this.#world;
    const isDeactivated = replica.get("realm", "realm")?.deactivatedAt != null;
    if (isDeactivated && random.chance(reactivationChance)) return command(realm, "realm.reactivate", {}, null);
    if (random.chance(0.15)) return this.#other();
    const chosen = random.chance(0.1) ? this.#inTurn() : this.#byWeight();
    return chosen.draw(this.#world);
  }

  /** The next type that has not occurred in this run, so that each occurs in many runs, however rare. */
  #inTurn(): Weighted {
    for (let step = 1; step <= weighted.length; step++) {
      const turn = (this.#turn + step) % weighted.length;
      const next = weighted[turn] as Weighted;
      if (this.#hasOccurred(next.type)) continue;
      this.#turn = turn;
      return next;
    }
    return this.#byWeight();
  }

  #byWeight(): Weighted {
    let left = this.#world.random.next() * total;
    const chosen = weighted.find(({ weight }) => {
      left -= weight;
      return left < 0;
    });
    return chosen ?? (weighted[0] as Weighted);
  }

  #other(): Command {
    if (this.#others.length === 0) {
      this.#others = fc.sample(anyCommand, { seed: this.#world.random.below(2 ** 31), numRuns: chunk });
    }
    return this.#others.pop() as Command;
  }
}

/** Some commands cannot be encoded, or their events cannot (test/support/runtime.ts, halfWritten). */
export function isMadeToThrow(thrown: Command | null, error: unknown): boolean {
  const { queueId } = (thrown?.params ?? {}) as { readonly queueId?: unknown };
  return thrown?.type === "realm.create" || String(error).includes("symbol") || typeof queueId === "symbol";
}
