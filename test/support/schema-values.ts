/**
 * Values for a schema: valid ones, edge cases, and near misses. The differential test passes them to two validators,
 * the fuzz test sends them to the server.
 */
import fc from "fast-check";
import type { JsonSchema } from "../../src/operations/execution/explain.ts";

/** The form of our declarations as JSON. */
export type Plain = JsonSchema & { readonly patternProperties?: Readonly<Record<string, Plain>> };

/** Strings around a length, of narrow and of wide characters. */
function stringsAround(length: number): string[] {
  const lengths = [length - 1, length, length + 1].filter((one) => one >= 0);
  return lengths.flatMap((one) => ["x".repeat(one), "🍎".repeat(one), "é".repeat(one)]);
}

/** Values at and beyond the edges of a schema. Long lists are built once, here. */
function edgesOf(schema: Plain): unknown[] {
  const edges: unknown[] = [];
  for (const bound of [schema.minimum, schema.maximum]) {
    if (bound !== undefined) edges.push(bound - 1, bound, bound + 1, bound + 0.5);
  }
  for (const length of [schema.minLength, schema.maxLength])
    if (length !== undefined) edges.push(...stringsAround(length));
  for (const count of [schema.minItems, schema.maxItems]) {
    const [item] = schema.items === undefined ? [0] : fc.sample(valid(schema.items), { numRuns: 1, seed: 1 });
    for (const size of [(count ?? 0) - 1, count ?? 0, (count ?? 0) + 1]) {
      if (count !== undefined && size >= 0) edges.push(new Array(size).fill(item));
    }
  }
  for (const value of schema.enum ?? []) edges.push(value, `${String(value)} `, String(value).toUpperCase());
  return edges;
}

/** Values that the schema accepts. */
export function valid(schema: Plain): fc.Arbitrary<unknown> {
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(valid));
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case "integer":
      return fc
        .maxSafeInteger()
        .map((value) => Math.min(Math.max(value, schema.minimum ?? value), schema.maximum ?? value));
    case "number":
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case "string":
      return fc.string({ unit: "grapheme", maxLength: Math.min(schema.maxLength ?? 50, 50) }).map((value) => {
        return Array.from(value).slice(0, schema.maxLength).join("");
      });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array": {
      const minLength = schema.minItems ?? 0;
      return fc.array(valid(schema.items ?? {}), {
        minLength,
        maxLength: Math.min(schema.maxItems ?? 5, minLength + 4),
      });
    }
    case "object":
      return validObject(schema);
    default:
      return fc.jsonValue();
  }
}

function validObject(schema: Plain): fc.Arbitrary<unknown> {
  const [pattern] = Object.values(schema.patternProperties ?? {});
  if (pattern !== undefined) return fc.dictionary(fc.string(), valid(pattern), { noNullPrototype: true });
  const fields = Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, valid(inner)]);
  const requiredKeys = (schema.required ?? []) as string[];
  return fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys,
    noNullPrototype: true,
  });
}

export const odd = fc.constantFrom<unknown>(
  null,
  true,
  "",
  "true",
  "1",
  0,
  -0,
  -1,
  1.5,
  2 ** 53,
  1e300,
  [],
  {},
  [[]],
  { id: 1 },
  "\ud800",
);

/** Anything that JSON or a form can contain, mostly near misses. */
export function hostile(schema: Plain): fc.Arbitrary<unknown> {
  const edges = edgesOf(schema);
  const options: fc.WeightedArbitrary<unknown>[] = [
    { weight: 3, arbitrary: valid(schema) },
    { weight: 2, arbitrary: odd },
    { weight: 1, arbitrary: fc.jsonValue() },
  ];
  if (edges.length > 0) options.push({ weight: 3, arbitrary: fc.constantFrom(...edges) });
  if (schema.anyOf !== undefined) options.push({ weight: 4, arbitrary: fc.oneof(...schema.anyOf.map(hostile)) });
  if (schema.type === "array")
    options.push({ weight: 2, arbitrary: fc.array(hostile(schema.items ?? {}), { maxLength: 4 }) });
  if (schema.type === "object") options.push({ weight: 2, arbitrary: hostileObject(schema) });
  return fc.oneof(...options);
}

export function hostileObject(schema: Plain): fc.Arbitrary<unknown> {
  const [pattern] = Object.values(schema.patternProperties ?? {});
  if (pattern !== undefined) return fc.dictionary(fc.string(), hostile(pattern), { noNullPrototype: true });
  const fields = Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, hostile(inner)]);
  const record = fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: [],
    noNullPrototype: true,
  });
  const extra = fc.dictionary(fc.constantFrom("extra", "constructor", "toString", ""), odd, { noNullPrototype: true });
  return fc.oneof(
    record,
    fc.tuple(record, extra).map(([fitting, more]) => ({ ...more, ...fitting })),
  );
}
