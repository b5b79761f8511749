/** Which request comes next: every type of command is either drawn here, or comes from the random commands of other tests, or is told. */
import fc from "fast-check";
import type { Command, CommandType } from "../../actors/commands.ts";
import { anyCommand } from "../support/random-commands.ts";
import { messageDraws } from "./draw-messages.ts";
import { peopleDraws } from "./draw-people.ts";
import { placeDraws } from "./draw-places.ts";
import type { Draw, World } from "./world.ts";

/** A type that nobody thought of is an error of the compiler. */
const draws: Readonly<Record<CommandType, Draw | null>> = { ...messageDraws, ...peopleDraws, ...placeDraws };

export const commandTypes = Object.keys(draws) as CommandType[];

/** What people do most. */
const weights: Partial<Record<CommandType, number>> = {
  "message.post": 70,
  "message.edit": 12,
  "reaction.add": 4,
  "message-flags.update": 8,
  "message.delete": 3,
  "subscriptions.add": 8,
  "subscriptions.remove": 4,
  "scheduled-messages.add": 6,
  "reminders.add": 3,
  "user.change-settings": 3,
  "channel.create": 2,
  "topic-deletion.abandon": 0.3,
  "topic-deletion.request": 0.5,
  "realm.found": 0.3,
  "user.deactivate": 0.3,
  "user.deactivate-self": 0.3,
  "user.reactivate": 5,
  "channel.archive": 0.4,
};

/** What the door refuses bots before there is a command (endpoints with the role "human"). */
const ofPeople: ReadonlySet<CommandType> = new Set<CommandType>([
  "user.change-settings",
  "status.update",
  "user.email-change.request",
  "user.avatar.set",
  "push-token.add",
  "push-token.remove",
  "device.register",
  "device.remove",
]);

interface Weighted {
  readonly draw: Draw;
  readonly weight: number;
}

const weighted: readonly Weighted[] = commandTypes.flatMap((type) => {
  const draw = draws[type];
  return draw === null ? [] : [{ draw, weight: weights[type] ?? 1 }];
});
const total = weighted.reduce((sum, { weight }) => sum + weight, 0);

/** So many of the random commands are made at a time. */
const chunk = 50;

export class Catalogue {
  readonly #world: World;
  #others: Command[] = [];
  /** Everything has its turn, however rare. */
  #turn: number;

  constructor(world: World) {
    this.#world = world;
    this.#turn = world.random.below(weighted.length);
  }

  next(): Command {
    for (;;) {
      const asked = this.#drawn();
      if (!ofPeople.has(asked.type) || !this.#isOfBot(asked)) return asked;
    }
  }

  #isOfBot({ callerId }: Command): boolean {
    const caller = callerId === null ? undefined : this.#world.replica.get("users", callerId);
    return caller !== undefined && caller.botType !== null;
  }

  #drawn(): Command {
    const { random } = this.#world;
    if (random.chance(0.15)) return this.#other();
    const chosen = random.chance(0.1) ? this.#inTurn() : this.#byWeight();
    return chosen.draw(this.#world);
  }

  #inTurn(): Weighted {
    this.#turn = (this.#turn + 1) % weighted.length;
    return weighted[this.#turn] as Weighted;
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
