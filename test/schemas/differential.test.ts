/**
 * Every endpoint's parameters, judged by two validators: typebox 1.x, which the server uses, and the older line of the library
 * (@sinclair/typebox 0.34), built anew from the JSON Schema form of the declarations. They agree on everything that a client
 * can send, but for one known thing: 1.x measures strings in code points (D8), 0.34 in UTF-16 units. The explanations of
 * http/explain.ts, which must find fault wherever there is one, are judged with them.
 */
import { type TSchema as OldSchema, type TProperties, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import fc from "fast-check";
import t from "tap";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { type Endpoint, wireOf } from "../../schemas/endpoint.ts";
import { endpoints } from "../../schemas/index.ts";
import { parseJson } from "../../schemas/json.ts";
import { explain, type JsonSchema } from "../../src/http/explain.ts";
import { compileParameters } from "../../src/http/parameters.ts";
import { type Fields, fieldsOf } from "../fuzz/inputs.ts";
import { hostile, hostileObject, type Plain, valid } from "../support/schema-values.ts";
import { seedOf } from "../support/seed.ts";

/** Of each operation; a long run of the fuzz shows as many of its inputs to the validators, too. */
const numRuns = Math.max(150, Math.ceil(Number(process.env["INPUTS"] ?? 0) / endpoints.length) || 0);

interface Validator {
  Check(value: unknown): boolean;
}

/** A keyword that is not here makes the test fail until it is taught. */
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
/** Say how a value travels or is explained, not what it may be. */
const silent = new Set(["default", "wire", "invalid", "secret", "description"]);

function bounds(schema: Plain, names: readonly (keyof Plain)[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (schema[name] === undefined ? [] : [[name, schema[name]]])));
}

/** The same declaration in the builders of 0.34. */
function toOld(schema: Plain): OldSchema {
  for (const keyword of Object.keys(schema)) {
    if (!validated.has(keyword) && !silent.has(keyword)) throw new Error(`this test does not know ${keyword}`);
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
      throw new Error(`this test does not know the type ${schema.type}`);
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

/** The known difference: characters of two units count once for 1.x, so 0.34 is shown one unit for each. */
function flatten(value: unknown): unknown {
  if (typeof value === "string") return value.replace(astral, "x");
  if (Array.isArray(value)) return value.map(flatten);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, flatten(inner)]));
}

/** All parameters fit, or all but one: a whole that is wrong in many places tells little. */
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

t.test("[issue, Repository and tools] both validators agree on every endpoint's parameters", (t) => {
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
    fc.assert(property, { seed, numRuns: 300 });
    const hasParams = Object.keys(schema.properties ?? {}).length > 0;
    t.ok(
      !hasParams || (accepted > 10 && refused > 10),
      `${endpoint.operationId}: ${accepted} accepted, ${refused} refused`,
    );
  }
  t.end();
});

/** The text of a parameter as its value; undefined: it is none. */
function decoded(declared: TSchema, text: string): unknown {
  const wire = wireOf(declared);
  if (wire === "text") return text;
  const parsed = parseJson(text);
  return wire === "json-or-text" && parsed === undefined ? text : parsed;
}

/** What a form means to the older validator: fitting, not fitting, or, where a text is no JSON, nothing. */
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

t.test(
  "[issue, Fuzz] what the fuzz sends is accepted by the server's reader and by the older validator, or by neither",
  (t) => {
    const seed = seedOf(t);
    let accepted = 0;
    let refused = 0;
    for (const endpoint of endpoints) {
      const reader = compileParameters(endpoint);
      const older = TypeCompiler.Compile(toOld(JSON.parse(JSON.stringify(endpoint.paramsSchema))));
      const property = fc.property(fc.noBias(fieldsOf(endpoint)), (drawn) => {
        const fields = drawn.map(([name, text]) => [name, text.startsWith("{own ") ? "1" : text] as const);
        const read = reader.read(new Map(fields), Object.fromEntries(fields));
        const isFine = "params" in read;
        if (isFine) accepted++;
        else refused++;
        if (judgedByOlder(endpoint, older, fields) !== isFine) {
          throw new Error(`the server says ${JSON.stringify(read)} of ${JSON.stringify(fields)}`);
        }
      });
      fc.assert(property, { seed, numRuns });
      t.pass(endpoint.operationId);
    }
    t.ok(Math.min(accepted, refused) > endpoints.length * 10, `${accepted} accepted, ${refused} refused`);
    t.end();
  },
);

t.test("[behaviour 1.3] whatever is wrong with a parameter is explained in a sentence about it", (t) => {
  const seed = seedOf(t);
  for (const endpoint of endpoints) {
    for (const [name, declared] of Object.entries(endpoint.params)) {
      const schema = JSON.parse(JSON.stringify(declared)) as Plain;
      const checked = Compile(declared);
      const property = fc.property(hostile(schema), (value) => {
        const message = explain(declared as JsonSchema, value, name);
        if (message === null && !checked.Check(value)) throw new Error(`${name}: ${JSON.stringify(value)}`);
      });
      fc.assert(property, { seed, numRuns: 60 });
    }
    t.pass(endpoint.operationId);
  }
  t.end();
});

t.test("[D8] the known difference: strings are measured in code points, not in UTF-16 units", (t) => {
  const schema = { type: "string", maxLength: 2 };
  const current = Compile(schema as never);
  const older = TypeCompiler.Compile(toOld(schema));
  t.ok(current.Check("🍎🍎"));
  t.notOk(older.Check("🍎🍎"), "0.34 counts four");
  t.notOk(current.Check("🍎🍎🍎"));
  t.ok(current.Check("e\u0301") && older.Check("e\u0301"), "a composed character is as many as it is written with");
  t.notOk(current.Check("👩‍👩‍👧"), "and not one picture");
  t.end();
});

t.test("[issue, Repository and tools] the comparison can fail: a bound that one of them lacks is found", (t) => {
  const schema = { type: "integer", minimum: 0 };
  const current = Compile(schema as never);
  const older = TypeCompiler.Compile(toOld({ type: "integer" }));
  const property = fc.property(hostile(schema), (value) => current.Check(value) === older.Check(value));
  t.ok(fc.check(property, { numRuns: 200 }).failed);
  t.throws(() => toOld({ type: "string", pattern: "x" } as never), /does not know pattern/);
  t.end();
});

t.test("[behaviour 1.3] a name that every object has is as unexpected as any other", (t) => {
  const schema = { type: "object", properties: {}, additionalProperties: false } as JsonSchema;
  for (const name of ["toString", "constructor", "valueOf"]) {
    t.equal(explain(schema, { [name]: null }, "x"), `Argument "${name}" at x is unexpected`);
  }
  t.end();
});
