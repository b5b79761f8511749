/**
 * The plan of what to redact in a value, compiled once from its schema: only the paths that lead to a mark
 * (schemas/person-marks.ts). Redaction (redaction.ts) walks these paths and leaves everything else as it is.
 */
import { isDeepStrictEqual } from "node:util";
import type { AttributeMark, PersonMark, RenderedMark, TypedMark } from "../schemas/person-marks.ts";

export type RedactedMark = AttributeMark | TypedMark | RenderedMark;

export interface Plan {
  /** For a text, or null in its place. */
  readonly mark: RedactedMark | null;
  /** For an object, by key. */
  readonly fields: readonly (readonly [key: string, plan: Plan])[];
  /** For the values of a record. */
  readonly values: Plan | null;
  /** For the items of a list. */
  readonly items: Plan | null;
}

/** The parts of a JSON schema that the plan depends on. */
interface Schema {
  readonly type?: unknown;
  readonly enum?: unknown;
  readonly person?: PersonMark;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

const empty: Plan = { mark: null, fields: [], values: null, items: null };

/**
 * @returns null if nothing in the value can show a person
 * @throws Error when two forms of a value have different marks in the same place
 */
export function planFor(schema: Schema): Plan | null {
  const { person } = schema;
  if (person !== undefined) return typeof person === "string" ? null : { ...empty, mark: person };
  if (schema.anyOf !== undefined) return merged(schema.anyOf.map(planFor));
  const fields = Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => {
    const plan = planFor(inner);
    return plan === null ? [] : [[key, plan] as const];
  });
  const values = merged(Object.values(schema.patternProperties ?? {}).map(planFor));
  const items = schema.items === undefined ? null : planFor(schema.items);
  return fields.length === 0 && values === null && items === null ? null : { mark: null, fields, values, items };
}

/** One plan for a value that has one of several forms. */
export function merged(plans: readonly (Plan | null)[]): Plan | null {
  return plans.reduce(
    (before, plan) => (before === null || plan === null ? (before ?? plan) : both(before, plan)),
    null,
  );
}

function both(a: Plan, b: Plan): Plan {
  if (a.mark !== null && b.mark !== null && !isDeepStrictEqual(a.mark, b.mark)) {
    throw new Error(`different marks in one place: ${JSON.stringify([a.mark, b.mark])}`);
  }
  const fields = new Map(a.fields);
  for (const [key, plan] of b.fields) {
    const known = fields.get(key);
    fields.set(key, known === undefined ? plan : both(known, plan));
  }
  return {
    mark: a.mark ?? b.mark,
    fields: [...fields],
    values: merged([a.values, b.values]),
    items: merged([a.items, b.items]),
  };
}
