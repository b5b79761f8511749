/**
 * The parameters of every endpoint in two validators: typebox 1.x, which the server uses, and the older line of the
 * library (@sinclair/typebox 0.34), rebuilt from the JSON Schema of the declarations. They must agree on all input,
 * except that 1.x measures strings in code points (D8), 0.34 in UTF-16 units. The explanations of http/explain.ts must
 * find every error.
 */
import { type TSchema as OldSchema, type TProperties, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import fc from "fast-check";
import t from "tap";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { type Endpoint, pathVariables, wireOf } from "../../schemas/endpoint.ts";
import { endpoints } from "../../schemas/index.ts";
import { parseJson } from "../../schemas/json.ts";
import { explain, type JsonSchema } from "../../src/operations/execution/explain.ts";
import { parameterReader } from "../../src/operations/execution/operation-executor.ts";
import { type Fields, fieldsOf } from "../fuzz/inputs.ts";
import { hostile, hostileObject, type Plain, valid } from "../support/schema-values.ts";
import { seedOf } from "../support/seed.ts";

/** Runs per operation. */
const paramRuns = Number(process.env["RUNS"] ?? 300);
/** A long fuzz run sends as many inputs to the validators, too. */
const formRuns = Math.max(paramRuns / 2, Math.ceil(Number(process.env["INPUTS"] ?? 0) / endpoints.length) || 0);

interface Validator {
  Check(value: unknown): boolean;
}

/** Keywords that `toOld` supports. Any other fails the test until it is added. */
const validated = new Set([
  "type",
  "enum",
  "anyOf",
  "items",
  "properties",
  "required",
  "additionalProperties",
  "patternProperties",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
]);
/** These keywords describe the encoding, the error or the redaction of a value, not which values are valid. */
const silent = new Set(["default", "wire", "invalid", "secret", "description", "person"]);

function bounds(schema: Plain, names: readonly (keyof Plain)[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (schema[name] === undefined ? [] : [[name, schema[name]]])));
}

/** The same declaration in the builders of 0.34. */
function toOld(schema: Plain): OldSchema {
  for (const keyword of Object.keys(schema)) {
    if (!validated.has(keyword) && !silent.has(keyword)) throw new Error(`this test does not support ${keyword}`);
  }
  if (schema.anyOf !== undefined) return Type.Union(schema.anyOf.map(toOld));
  if (schema.enum !== undefined) return Type.Union(schema.enum.map((value) => Type.Literal(value as string)));
  switch (schema.type) {
    case undefined:
      return Type.Unknown();
    case "integer":
      return Type.Integer(bounds(schema, ["minimum", "maximum"]));
    case "number":
      return Type.Number(bounds(schema, ["minimum", "maximum"]));
    case "string":
      return Type.String(bounds(schema, ["minLength", "maxLength"]));
    case "boolean":
      return Type.Boolean();
    case "null":
      return Type.Null();
    case "array":
      return Type.Array(toOld(schema.items ?? {}), bounds(schema, ["minItems", "maxItems"]));
    case "object":
      return toOldObject(schema);
    default:
      throw new Error(`this test does not support the type ${schema.type}`);
  }
}

function toOldObject(schema: Plain): OldSchema {
  const [pattern] = Object.values(schema.patternProperties ?? {});
  if (pattern !== undefined) return Type.Record(Type.String(), toOld(pattern));
  const properties: TProperties = {};
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    properties[name] = schema.required?.includes(name) === true ? toOld(inner) : Type.Optional(toOld(inner));
  }
  return Type.Object(properties, schema.additionalProperties === false ? { additionalProperties: false } : {});
}

const astral = /[\u{10000}-\u{10FFFF}]/gu;

/** The known difference: 1.x counts an astral character once, so 0.34 gets one unit for each. */
function flatten(value: unknown): unknown {
  if (typeof value === "string") return value.replace(astral, "x");
  if (Array.isArray(value)) return value.map(flatten);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, flatten(inner)]));
}

/** All parameters valid, or all but one: many errors at once would hide differences. */
function paramsOf(schema: Plain): fc.Arbitrary<unknown> {
  const names = Object.keys(schema.properties ?? {});
  const fitting = valid(schema);
  const spoiled = names.map((name) =>
    fc
      .tuple(fitting, hostile(schema.properties?.[name] ?? {}))
      .map(([params, value]) => ({ ...(params as object), [name]: value })),
  );
  return fc.oneof(
    { weight: 1, arbitrary: fitting },
    { weight: 6, arbitrary: fc.oneof(hostileObject(schema), ...spoiled) },
  );
}

t.test("[spec 2.1] both validators agree on every endpoint's parameters", async (t) => {
  const seed = seedOf(t);
  t.ok(endpoints.length >= 20);
  for (const endpoint of endpoints) {
    const schema = JSON.parse(JSON.stringify(endpoint.paramsSchema)) as Plain;
    const current = Compile(endpoint.paramsSchema);
    const older = TypeCompiler.Compile(toOld(schema));
    let accepted = 0;
    let refused = 0;
    const property = fc.property(paramsOf(schema), (params) => {
      const isFine = current.Check(params);
      if (isFine) accepted++;
      else refused++;
      if (older.Check(flatten(params)) !== isFine) throw new Error(`1.x says ${isFine} of ${JSON.stringify(params)}`);
    });
    fc.assert(property, { seed, numRuns: paramRuns });
    const hasParams = Object.keys(schema.properties ?? {}).length > 0;
    t.ok(
      !hasParams || Math.min(accepted, refused) > paramRuns / 30,
      `${endpoint.operationId}: ${accepted} accepted, ${refused} refused`,
    );
  }
});

/** The decoded value of a parameter's text; undefined if it cannot be parsed. */
function decoded(declared: TSchema, text: string): unknown {
  const wire = wireOf(declared);
  if (wire === "text") return text;
  const parsed = parseJson(text);
  return wire === "json-or-text" && parsed === undefined ? text : parsed;
}

/** Whether the older validator accepts the form. A text that is not JSON is rejected. */
function judgedByOlder(endpoint: Endpoint, older: Validator, fields: Fields): boolean {
  const params: Record<string, unknown> = {};
  for (const [name, declared] of Object.entries(endpoint.params)) {
    const text = fields.find(([each]) => each === name)?.[1];
    const value = text === undefined ? (declared as { default?: unknown }).default : decoded(declared, text);
    if (text !== undefined && value === undefined) return false;
    if (value !== undefined) params[name] = value;
  }
  return older.Check(flatten(params));
}

t.test("[spec 2.1] the server's reader and the older validator agree on everything that the fuzz sends", async (t) => {
  const seed = seedOf(t);
  let accepted = 0;
  let refused = 0;
  for (const endpoint of endpoints) {
    const reader = parameterReader(endpoint);
    const older = TypeCompiler.Compile(toOld(JSON.parse(JSON.stringify(endpoint.paramsSchema))));
    const property = fc.property(fc.noBias(fieldsOf(endpoint)), (drawn) => {
      const fields = drawn.map(([name, text]) => [name, text.startsWith("{own ") ? "1" : text] as const);
      const form = new Map(fields);
      const read = reader.read(
        form,
        pathVariables(endpoint.path).map(({ name }) => form.get(name) as string),
      );
      const isFine = "params" in read;
      if (isFine) accepted++;
      else refused++;
      if (judgedByOlder(endpoint, older, fields) !== isFine) {
        throw new Error(`the server says ${JSON.stringify(read)} of ${JSON.stringify(fields)}`);
      }
    });
    fc.assert(property, { seed, numRuns: formRuns });
    t.pass(endpoint.operationId);
  }
  t.ok(Math.min(accepted, refused) > (endpoints.length * formRuns) / 15, `${accepted} accepted, ${refused} refused`);
});

t.test("[behaviour 1.3] every invalid parameter is explained in a sentence that names it", async (t) => {
  const seed = seedOf(t);
  for (const endpoint of endpoints) {
    for (const [name, declared] of Object.entries(endpoint.params)) {
      const schema = JSON.parse(JSON.stringify(declared)) as Plain;
      const checked = Compile(declared);
      const property = fc.property(hostile(schema), (value) => {
        const message = explain(declared as JsonSchema, value, name);
        if (message === null && !checked.Check(value)) throw new Error(`${name}: ${JSON.stringify(value)}`);
      });
      fc.assert(property, { seed, numRuns: paramRuns / 5 });
    }
    t.pass(endpoint.operationId);
  }
});

t.test("[D8] the known difference: strings are measured in code points, not in UTF-16 units", async (t) => {
  const schema = { type: "string", maxLength: 2 };
  const current = Compile(schema as never);
  const older = TypeCompiler.Compile(toOld(schema));
  t.ok(current.Check("🍎🍎"));
  t.notOk(older.Check("🍎🍎"), "0.34 counts four");
  t.notOk(current.Check("🍎🍎🍎"));
  t.ok(current.Check("e\u0301") && older.Check("e\u0301"), "a composed character counts each of its code points");
  t.notOk(current.Check("👩‍👩‍👧"), "a grapheme is not one character");
});

t.test("[spec 2.1] the comparison can fail: it finds a limit that one of the validators lacks", async (t) => {
  const schema = { type: "integer", minimum: 0 };
  const current = Compile(schema as never);
  const older = TypeCompiler.Compile(toOld({ type: "integer" }));
  const property = fc.property(hostile(schema), (value) => current.Check(value) === older.Check(value));
  t.ok(fc.check(property, { seed: seedOf(t), numRuns: 200 }).failed);
  t.throws(() => toOld({ type: "string", pattern: "x" } as never), /does not support pattern/);
});

t.test("[behaviour 1.3] the name of a property that every object has is as unexpected as any other", async (t) => {
  const schema = { type: "object", properties: {}, additionalProperties: false } as JsonSchema;
  for (const name of ["toString", "constructor", "valueOf"]) {
    t.equal(explain(schema, { [name]: null }, "x"), `Argument "${name}" at x is unexpected`);
  }
});
