/** A JSON Schema of a document as HTML: its type in words, and its properties as nested lists. */

import type { JsonSchema } from "./json-schema.ts";
import { escaped, inline } from "./page-text.ts";

type Named = Readonly<Record<string, JsonSchema>>;

const schemasPath = "#/components/schemas/";

/** Longer lists of values are shortened. */
const valuesMax = 12;

/** The address of a component in the page. */
export function anchorOf(component: string): string {
  return `schema-${component}`;
}

function valuesIn(values: readonly unknown[]): string {
  const shown = values.slice(0, valuesMax).map((value) => `<code>${escaped(JSON.stringify(value))}</code>`);
  const rest = values.length > valuesMax ? [`${values.length - valuesMax} more`] : [];
  return [...shown, ...rest].join(", ");
}

/** The type in words, without the properties of objects. */
export function typeOf(schema: JsonSchema): string {
  const { $ref: reference, const: only, enum: values, anyOf, allOf, type, items } = schema;
  if (typeof reference === "string") {
    const name = reference.slice(schemasPath.length);
    return `<a href="#${anchorOf(name)}">${escaped(name)}</a>`;
  }
  if (only !== undefined) return valuesIn([only]);
  if (Array.isArray(values)) return valuesIn(values);
  const forms = (anyOf ?? allOf) as readonly JsonSchema[] | undefined;
  if (forms !== undefined) return [...new Set(forms.map(typeOf))].join(anyOf === undefined ? " and " : " or ");
  if (type === "array") return `list of ${typeOf((items ?? {}) as JsonSchema)}`;
  if (type === undefined) return "any value";
  return escaped(String(type));
}

const boundNames: Readonly<Record<string, string>> = {
  minimum: "at least",
  maximum: "at most",
  minLength: "characters, at least",
  maxLength: "characters, at most",
  minItems: "items, at least",
  maxItems: "items, at most",
};

/** Bounds that say nothing but "an exact integer". */
const obvious: ReadonlySet<unknown> = new Set([0, Number.MAX_SAFE_INTEGER]);

export function boundsOf(schema: JsonSchema): string {
  const bounds = Object.entries(boundNames).flatMap(([keyword, words]) => {
    const value = schema[keyword];
    return value === undefined || obvious.has(value) ? [] : [`${words} ${value}`];
  });
  if (schema["default"] !== undefined)
    bounds.push(`default <code>${escaped(JSON.stringify(schema["default"]))}</code>`);
  return bounds.join("; ");
}

/** The objects inside a type: those whose properties are worth a list. */
function objectsIn(schema: JsonSchema): JsonSchema[] {
  const { anyOf, allOf, items, properties, additionalProperties } = schema;
  if (properties !== undefined) return [schema];
  const forms = (anyOf ?? allOf) as readonly JsonSchema[] | undefined;
  if (forms !== undefined) return forms.flatMap(objectsIn);
  if (items !== undefined) return objectsIn(items as JsonSchema);
  return typeof additionalProperties === "object" ? objectsIn(additionalProperties as JsonSchema) : [];
}

/** The properties of the objects in a schema; "" if it has none. */
export function propertiesOf(schema: JsonSchema, omitted: ReadonlySet<string> = new Set()): string {
  return objectsIn(schema)
    .map((object) => listOf(object, omitted))
    .join("");
}

function listOf(object: JsonSchema, omitted: ReadonlySet<string>): string {
  const required = new Set((object["required"] ?? []) as readonly string[]);
  const rows = Object.entries(object["properties"] as Named)
    .filter(([name]) => !omitted.has(name))
    .map(([name, schema]) => rowOf(name, schema, required.has(name)));
  return rows.length === 0 ? "" : `<ul>${rows.join("")}</ul>`;
}

function rowOf(name: string, schema: JsonSchema, isRequired: boolean): string {
  const bounds = boundsOf(schema);
  const text = typeof schema["description"] === "string" ? ` ${inline(schema["description"])}` : "";
  const kind = [typeOf(schema), ...(isRequired ? [] : ["optional"]), ...(bounds === "" ? [] : [bounds])].join("; ");
  return `<li><code>${escaped(name)}</code> <i>${kind}</i>${text}${propertiesOf(schema)}</li>`;
}
