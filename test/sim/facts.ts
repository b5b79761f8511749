/**
 * Facts that were returned to clients stay true after every crash (M1): the content of messages, stars, reactions,
 * names, settings, subscriptions, snippets. A change whose request was never answered leaves two possible values, and
 * the first read decides.
 */
import type { Command } from "../../actors/protocol/decision.ts";
import { type Answer, type Consequence, type FactKey, type FactReaders, nothing } from "../areas/area.ts";
import { areaCases, merged } from "../areas/index.ts";
import type { Replica } from "./replica.ts";

const readers: FactReaders = merged(({ facts }) => facts?.readers);
const actual = merged(({ facts }) => facts?.actual);
const mayEnd = merged(({ facts }) => facts?.mayEnd);
const ofMessages: ReadonlySet<string | number | undefined> = new Set(
  areaCases.flatMap(({ facts }) => facts?.ofMessages ?? []),
);

function isOfMessage([kind]: FactKey): boolean {
  return ofMessages.has(kind);
}

function storedValue([kind, one = 0, other = 0, third = 0]: FactKey, replica: Replica): unknown {
  return actual[String(kind)]?.(replica, one, other, third);
}

/** A fact that became false without a request. */
function hasEnded([kind, one = 0, other = 0, third = 0]: FactKey, replica: Replica): boolean {
  return mayEnd[String(kind)]?.(replica, one, other, third) === true;
}

interface Fact {
  readonly key: FactKey;
  values: unknown[];
  /** It was learned from a stored response, when deletions in doubt may already have been forgotten. */
  readonly isLate: boolean;
}

export class Facts {
  readonly #replica: Replica;
  readonly #known = new Map<string, Fact>();
  /** Messages that were, or may have been, deleted: a late response to their post says nothing about the present. */
  readonly #deleted = new Set<number>();
  /** Messages whose row a turn on the disk removed. */
  readonly #removed = new Set<number>();
  /** Parameters of commands without a response. A repeat may get the stored response when later commands have run. */
  readonly #doubted = new WeakSet<object>();
  #checked = 0;

  constructor(replica: Replica) {
    this.#replica = replica;
  }

  /** Number of facts compared. */
  get checked(): number {
    return this.#checked;
  }

  #consequence(command: Command, answer: Answer | null): Consequence {
    const read = readers[command.type] as ((command: Command, answer: Answer | null) => Consequence) | undefined;
    const consequence = read?.(command, answer) ?? nothing;
    const { forgets, forgetsMessages, deletes } = consequence;
    if (deletes !== undefined) this.#deleted.add(deletes);
    if (forgets === undefined && forgetsMessages === undefined && deletes === undefined) return consequence;
    for (const [name, { key }] of this.#known) {
      const messageId = isOfMessage(key) ? Number(key[1]) : null;
      const isGone = messageId !== null && (messageId === deletes || forgetsMessages?.(messageId, this.#replica));
      if (isGone || forgets?.(key)) this.#known.delete(name);
    }
    return consequence;
  }

  /** A request succeeded. */
  acknowledged(command: Command, answer: Answer): void {
    const isLate = this.#doubted.has(command.params as object);
    for (const { key, value } of this.#consequence(command, answer).claims) {
      if (isOfMessage(key) && this.#deleted.has(Number(key[1]))) continue;
      const known = this.#known.get(key.join("/"));
      if (isLate && known !== undefined) known.values.push(value);
      // Only a post made what it claims, so nothing that ran since can have made it otherwise.
      else if (!isLate || command.type === "message.post")
        this.#known.set(key.join("/"), { key, values: [value], isLate });
    }
  }

  /** A request got no response: it was executed, or not. */
  doubted(command: Command): void {
    this.#doubted.add(command.params as object);
    for (const { key, value } of this.#consequence(command, null).claims)
      this.#known.get(key.join("/"))?.values.push(value);
  }

  /** A turn on the disk removed a message's row. */
  removed(messageId: number): void {
    this.#removed.add(messageId);
  }

  /** Call it only while nothing is in flight. @returns facts that differ from the acknowledged ones */
  contradictions(): string[] {
    const found: string[] = [];
    for (const [name, fact] of this.#known) {
      const { key, values, isLate } = fact;
      if (isLate && isOfMessage(key) && this.#removed.has(Number(key[1]))) {
        this.#known.delete(name);
        continue;
      }
      this.#checked++;
      const value = storedValue(key, this.#replica);
      if (values.includes(value) || (value === false && hasEnded(key, this.#replica))) fact.values = [value];
      else
        found.push(`[M1] ${key.join(" ")} was acknowledged as ${JSON.stringify(values)}, is ${JSON.stringify(value)}`);
    }
    return found;
  }
}
