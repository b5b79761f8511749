/**
 * Records whose ids, names and paths were seen in responses. An input refers to a record by a placeholder (`{own
 * draft}`), which the id replaces when the request is written. Without this, operations on records that must exist
 * first would never succeed.
 */
import { areaCases, merged } from "../areas/index.ts";
import type { Input } from "./inputs.ts";

const things: ReadonlySet<string> = new Set(areaCases.flatMap(({ fuzz }) => fuzz?.things ?? []));

/** The placeholder for the record in an input. */
export function own(thing: string): string {
  return `{own ${thing}}`;
}

/** The placeholder as encoded in a path, query or form, and as it is in other bodies. */
const encodedThing = /%7Bown%20((?:[a-z]|%20)+)%7D/g;
const plainThing = /\{own ([a-z ]+)\}/g;

/** @returns the input with current ids in place of its placeholders */
export function filledIn(input: Input, say: (thing: string) => string): Input {
  const fill = (text: string) =>
    text
      .replace(encodedThing, (_all, thing: string) => encodeURIComponent(say(decodeURIComponent(thing))))
      .replace(plainThing, (_all, thing: string) => Buffer.from(say(thing)).toString("latin1"));
  return { ...input, target: fill(input.target), body: input.body === null ? null : fill(input.body) };
}

/** The record that a parameter refers to, of one operation or of all. */
const meanings = merged(({ fuzz }) => fuzz?.meanings);
for (const thing of Object.values(meanings)) if (!things.has(thing)) throw new Error(`no thing is called ${thing}`);

/** @returns null: an ordinary parameter */
export function thingOf(operationId: string, name: string): string | null {
  return meanings[`${operationId} ${name}`] ?? meanings[name] ?? null;
}

const learned = merged(({ fuzz }) => fuzz?.learned);

/** The newest of each kind, of all users and of each user: bounded by the number of users. */
export class Things {
  readonly #known = new Map<string, string>();

  set(userId: number, thing: string, value: string): void {
    this.#known.set(`${userId} ${thing}`, value);
    this.#known.set(thing, value);
  }

  /** Remembers the records in a successful response. */
  learn(userId: number, input: Input, body: unknown): void {
    for (const [thing, value] of learned[input.operationId]?.(body, input.target) ?? []) {
      if (!things.has(thing)) throw new Error(`no thing is called ${thing}`);
      if (value !== undefined && value !== null) this.set(userId, thing, String(value));
    }
  }

  /** A record of the user; if there is none, of any user; if there is none, an id that may not exist. */
  say(userId: number, thing: string): string {
    const others = thing === "queue" ? undefined : this.#known.get(thing);
    return this.#known.get(`${userId} ${thing}`) ?? others ?? "1";
  }
}
