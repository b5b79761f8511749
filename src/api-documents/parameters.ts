/**
 * The parameters of an operation in the OpenAPI document. In a form or a query a string is raw text and everything else
 * is JSON text (schemas/endpoint.ts): where both look the same the parameter is plain, otherwise it has the content type
 * application/json.
 */
import type { TSchema } from "typebox";
import { type Endpoint, pathVariables, wireOf } from "../../schemas/endpoint.ts";
import { type JsonSchema, objectOf, type SchemaBook } from "./json-schema.ts";
import { parameterText } from "./parameter-texts.ts";

/** Types whose JSON text a form writes without quotes or brackets. */
const plainTypes: ReadonlySet<unknown> = new Set(["integer", "number", "boolean"]);

/** Whether the text of a value in a form is the value itself, without JSON's quotes. */
function isPlain(schema: TSchema): boolean {
  const { type, enum: values = [] } = schema as { type?: string; enum?: readonly unknown[] };
  const wire = wireOf(schema);
  if (wire === "text" || plainTypes.has(type)) return true;
  if (values.length === 0) return false;
  const isWords = values.every((value) => typeof value === "string");
  return isWords ? wire === "json-or-text" : values.every((value) => typeof value === "number");
}

interface FormParameter {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly description: string;
  readonly isRequired: boolean;
  readonly isPlain: boolean;
}

function formParameters(book: SchemaBook, endpoint: Endpoint): FormParameter[] {
  const inPath = new Set(pathVariables(endpoint.path).map(({ name }) => name));
  const required = (endpoint.paramsSchema as { required?: readonly string[] }).required ?? [];
  return Object.entries(endpoint.params)
    .filter(([name]) => !inPath.has(name))
    .map(([name, declared]) => ({
      name,
      schema: book.of(declared),
      description: descriptionOf(endpoint, name, declared),
      isRequired: required.includes(name) && (declared as { default?: unknown }).default === undefined,
      isPlain: isPlain(declared),
    }));
}

/** The meaning of a parameter, and its other names. */
export function descriptionOf({ operationId, aliases = {} }: Endpoint, name: string, declared: TSchema): string {
  const { description = parameterText(operationId, name) } = declared as { description?: string };
  const others = Object.entries(aliases).filter(([, target]) => target === name);
  const also = others.map(([alias]) => `Also accepted as \`${alias}\`.`);
  return [description, ...also].filter((part) => part !== "").join(" ");
}

function described(description: string): { readonly description?: string } {
  return description === "" ? {} : { description };
}

/** The parameter with its description beside the schema, where documents look for it. */
function asParameter(parameter: FormParameter): JsonSchema {
  const { description: _, ...schema } = parameter.schema;
  return {
    name: parameter.name,
    in: "query",
    ...described(parameter.description),
    ...(parameter.isRequired ? { required: true } : {}),
    ...(parameter.isPlain ? { schema } : { content: { "application/json": { schema } } }),
  };
}

/** The file of an upload: a part of any name with a file name. */
const fileField = "file";

function requestBody(parameters: readonly FormParameter[], hasFile: boolean): JsonSchema {
  const properties = Object.fromEntries(
    parameters.map(({ name, schema, description }) => [name, { ...schema, ...described(description) }]),
  );
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const encoding = Object.fromEntries(
    parameters.filter((one) => !one.isPlain).map(({ name }) => [name, { contentType: "application/json" }]),
  );
  const encoded = Object.keys(encoding).length === 0 ? {} : { encoding };
  if (!hasFile) {
    const form = { schema: objectOf(properties, required), ...encoded };
    return { required: required.length > 0, content: { "application/x-www-form-urlencoded": form } };
  }
  const file = { type: "string", contentMediaType: "application/octet-stream", description: "One file." };
  const form = { schema: objectOf({ [fileField]: file, ...properties }, [fileField, ...required]), ...encoded };
  return { required: true, content: { "multipart/form-data": form } };
}

/** Methods whose parameters the document puts into the query: tools do not send a body with them. */
const queryMethods: ReadonlySet<string> = new Set(["GET", "DELETE"]);

/** The query parameters, or the body, of an operation. */
export function inputOf(book: SchemaBook, endpoint: Endpoint): { parameters: JsonSchema[]; requestBody?: JsonSchema } {
  const parameters = formParameters(book, endpoint);
  if (queryMethods.has(endpoint.method)) return { parameters: parameters.map(asParameter) };
  const hasFile = endpoint.upload !== undefined;
  if (parameters.length === 0 && !hasFile) return { parameters: [] };
  return { parameters: [], requestBody: requestBody(parameters, hasFile) };
}
