/** The rejections of operations in the OpenAPI document: a schema for each code, a response for each status. */
import { Type } from "typebox";
import { commonErrors } from "../../schemas/endpoint.ts";
import { type ErrorCode, errorCodes } from "../../schemas/errors.ts";
import { type JsonSchema, objectOf, type SchemaBook } from "./json-schema.ts";
import { pascalCase, withoutReferences } from "./words.ts";

/** Headers of rejections, by status. */
const headersByStatus: Readonly<Record<number, Readonly<Record<string, JsonSchema>>>> = {
  401: { "WWW-Authenticate": { description: "How to authenticate.", schema: { type: "string" } } },
  405: { Allow: { description: "The methods of the path.", schema: { type: "string" } } },
  429: { "Retry-After": { description: "Seconds to wait.", required: true, schema: { type: "integer", minimum: 0 } } },
  503: { "Retry-After": { description: "Seconds to wait, if known.", schema: { type: "integer", minimum: 0 } } },
};

/** The body of a rejection with this code, as a component. */
export function errorSchema(book: SchemaBook, code: ErrorCode): JsonSchema {
  const row: { readonly meaning: string; readonly fields?: object } = errorCodes[code];
  return book.component(`${pascalCase(code)}Error`, () => {
    const more = book.of(Type.Object({ ...row.fields })) as {
      readonly properties: Readonly<Record<string, JsonSchema>>;
      readonly required?: readonly string[];
    };
    const properties = {
      result: { type: "string", const: "error" },
      msg: { type: "string", minLength: 1, description: "What is wrong, in English." },
      code: { type: "string", const: code },
      ...more.properties,
    };
    const schema = objectOf(properties, ["result", "msg", "code", ...(more.required ?? [])]);
    return { ...schema, description: withoutReferences(row.meaning) };
  });
}

/** The response with one of these codes, which have one status. */
function errorResponse(book: SchemaBook, status: number, codes: readonly ErrorCode[]): JsonSchema {
  const forms = codes.map((code) => errorSchema(book, code));
  const headers = headersByStatus[status];
  return {
    description: codes.map((code) => `\`${code}\`: ${withoutReferences(errorCodes[code].meaning)}`).join("\n\n"),
    ...(headers === undefined ? {} : { headers }),
    content: { "application/json": { schema: forms.length === 1 ? forms[0] : { anyOf: forms } } },
  };
}

/** Responses that several operations share, as components. */
export class ErrorResponses {
  readonly #book: SchemaBook;
  readonly #components = new Map<string, JsonSchema>();

  constructor(book: SchemaBook) {
    this.#book = book;
  }

  get components(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries(this.#components);
  }

  /** @returns responses by status */
  of(codes: Iterable<ErrorCode>): Readonly<Record<string, JsonSchema>> {
    const byStatus = new Map<number, ErrorCode[]>();
    for (const code of new Set(codes)) {
      const { status } = errorCodes[code];
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    }
    const statuses = [...byStatus].sort(([a], [b]) => a - b);
    return Object.fromEntries(statuses.map(([status, some]) => [String(status), this.#response(status, some)]));
  }

  #response(status: number, codes: readonly ErrorCode[]): JsonSchema {
    const name = sharedName(status, codes);
    if (name === null) return errorResponse(this.#book, status, codes);
    if (!this.#components.has(name)) this.#components.set(name, errorResponse(this.#book, status, codes));
    return { $ref: `#/components/responses/${name}` };
  }
}

/** A single code, or exactly those that every operation may return with this status; null: this operation's own list. */
function sharedName(status: number, codes: readonly ErrorCode[]): string | null {
  const [first] = codes;
  if (codes.length === 1 && first !== undefined) return pascalCase(first);
  const common = commonErrors.filter((code) => errorCodes[code].status === status);
  const isCommon = codes.length === common.length && codes.every((code) => common.includes(code));
  return isCommon ? `Common${status}` : null;
}
