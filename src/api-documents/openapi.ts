/** The OpenAPI 3.1 document of the REST API, generated from the declarations of the operations (schemas/). */
import { commonErrors, type Endpoint, pathVariables, type RequiredRole } from "../../schemas/endpoint.ts";
import type { ErrorCode } from "../../schemas/errors.ts";
import { limits } from "../../schemas/limits.ts";
import { featureLevel, programVersion } from "../../schemas/server.ts";
import { answerText } from "./answer-texts.ts";
import { ErrorResponses } from "./errors.ts";
import { nameEvents } from "./events.ts";
import { bodyExample, type Example, type Examples, parameterExample } from "./examples.ts";
import { type JsonSchema, objectOf, SchemaBook } from "./json-schema.ts";
import { type DocumentedOperation, type DocumentedPath, documentedPaths } from "./operations.ts";
import { descriptionOf, inputOf } from "./parameters.ts";
import { capitalized, withoutReferences } from "./words.ts";

const description = `The REST API of Colloquy, which clients of Zulip speak (feature level ${featureLevel}).

**Parameters.** They are sent as a form in the body or in the query, in either place for every method; if both have a name, the body
counts. Strings are sent as they are, everything else as JSON. A JSON body is not read. Names that an operation does not know are ignored, and
its answer lists them.

**Answers.** Every answer is a JSON object with \`result\` and \`msg\`; an error has a \`code\`, too. Clients should accept fields and
events that they do not know. A success means that the change is on disk.

**Repeating.** A request with an \`Idempotency-Key\` can be repeated after a lost answer: it is carried out once, and repeats get the first
answer. 429 and 503 say when to repeat with \`Retry-After\`.

**Events** are described by the AsyncAPI document, \`/api/v1/asyncapi.json\`.`;

const roleRules: Readonly<Record<RequiredRole, string>> = {
  human: "Rejects bots.",
  member: "Rejects guests.",
  "human-member": "Rejects guests and bots.",
  administrator: "Only for administrators of the organization.",
};

const basic = "apiKey";
const session = "session";

const security: Readonly<Record<Endpoint["authentication"], readonly object[]>> = {
  user: [{ [basic]: [] }, { [session]: [] }],
  optional: [{}, { [basic]: [] }, { [session]: [] }],
  none: [],
};

const headers = {
  "X-RateLimit-Limit": { description: "How many requests the limit allows at once.", schema: { type: "integer" } },
  "X-RateLimit-Remaining": { description: "How many requests are left.", schema: { type: "integer" } },
  "X-RateLimit-Reset": { description: "When all are available again, in UNIX seconds.", schema: { type: "integer" } },
  ETag: { description: "Identifies this content, for If-None-Match.", schema: { type: "string" } },
  "Set-Cookie": {
    description: "Sets the cookie of the session, or removes it.",
    required: true,
    schema: { type: "string" },
  },
  Location: { description: "Where the picture is.", required: true, schema: { type: "string" } },
};
type HeaderName = keyof typeof headers;

const limitHeaders: readonly HeaderName[] = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

function headersOf(names: readonly HeaderName[]) {
  return { headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])) };
}

const headerParameters = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description: "A text of the client's choice that names this request: repeats with it get the first answer.",
    schema: { type: "string", minLength: 1, maxLength: limits.idempotency_key_bytes_max, pattern: "^[!-~]+$" },
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description: "The ETag of an earlier answer: 304 if the content is the same.",
    schema: { type: "string", pattern: '^"[!-~]*"$' },
  },
};

/** The fields of every success, besides those of the operation. */
const envelope: Readonly<Record<string, JsonSchema>> = {
  result: { type: "string", const: "success" },
  msg: { type: "string", const: "" },
  ignored_parameters_unsupported: {
    type: "array",
    items: { type: "string" },
    description: "The names of parameters that the operation does not know; absent if there are none.",
  },
};

/** The transport rejects such a request before the server sees it. */
const headTooLarge = {
  description: "The query is too long. The body is no JSON. Send the parameters as a form in the body.",
};

/** The text of a success, besides its fields. */
function successText({ effectiveness, summary, okSchema }: Endpoint): string {
  if (effectiveness === "read") return withoutReferences(summary);
  const fields = Object.keys(okSchema.properties).map((name) => `\`${name}\``);
  const done = effectiveness === "durable" ? "Done: the change is on disk." : "Done.";
  return fields.length === 0 ? done : `${done} The answer has ${fields.slice(0, fieldsNamedMax).join(", ")}.`;
}

const fieldsNamedMax = 8;

function describedFields(
  operationId: string,
  properties: Readonly<Record<string, JsonSchema>>,
): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const text = schema["description"] === undefined ? answerText(operationId, name) : "";
      return [name, text === "" ? schema : { ...schema, description: text }];
    }),
  );
}

function successSchema(book: SchemaBook, endpoint: Endpoint): JsonSchema {
  const { properties = {}, required = [] } = book.of(endpoint.okSchema) as {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
  };
  const fields = describedFields(endpoint.operationId, properties);
  return objectOf({ ...envelope, ...fields }, ["result", "msg", ...required]);
}

function successResponses(
  book: SchemaBook,
  endpoint: Endpoint,
  { answer }: Partial<Example>,
): Readonly<Record<string, JsonSchema>> {
  const shown = answer === undefined ? {} : { example: answer };
  const content = { "application/json": { schema: successSchema(book, endpoint), ...shown } };
  if (endpoint.redirects === true) {
    return {
      "302": { description: "A redirect to the picture.", ...headersOf([...limitHeaders, "Location"]), content },
    };
  }
  const cookies: readonly HeaderName[] = endpoint.setsCookies === true ? ["Set-Cookie"] : [];
  const success = { description: successText(endpoint), ...headersOf([...limitHeaders, ...cookies]), content };
  if (endpoint.tagged !== true) return { "200": success };
  return {
    "200": { ...success, ...headersOf([...limitHeaders, "ETag"]) },
    "304": { description: "The content is the one that If-None-Match names.", ...headersOf(["ETag"]) },
  };
}

/** A path variable takes the values of all operations that share the path. */
function pathParameter(book: SchemaBook, endpoints: readonly Endpoint[], position: number, name: string): JsonSchema {
  const named = endpoints.map((endpoint) => [endpoint, pathVariables(endpoint.path)[position]?.name ?? ""] as const);
  const schemas = named.map(([{ params }, variable]) => {
    const declared = book.of(params[variable]);
    return declared["type"] === "string" ? { minLength: 1, ...declared } : declared;
  });
  const texts = named.map(([endpoint, variable]) =>
    descriptionOf(endpoint, variable, endpoint.params[variable] ?? endpoint.paramsSchema),
  );
  const isRest = endpoints.some(({ path }) => pathVariables(path)[position]?.isRest === true);
  return {
    name,
    in: "path",
    required: true,
    description: [texts.join(" Or: "), ...(isRest ? ["May contain slashes."] : [])].join(" "),
    schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas },
  };
}

/** All codes that the operation may return, those of its path included. */
function codesOf({ endpoints, mayLackMethod }: DocumentedOperation): ErrorCode[] {
  const hasVariables = endpoints.some(({ path }) => pathVariables(path).length > 0);
  return [
    ...endpoints.flatMap(({ errors }) => errors),
    ...commonErrors,
    ...(hasVariables ? (["NOT_FOUND"] as const) : []),
    ...(mayLackMethod ? (["METHOD_NOT_ALLOWED"] as const) : []),
  ];
}

function rulesOf({ role, authentication, allowsIncomingWebhooks, effectiveness }: Endpoint): string {
  const rules = [
    ...(role === undefined ? [] : [roleRules[role]]),
    ...(authentication === "none" || allowsIncomingWebhooks === true ? [] : ["Rejects incoming webhook bots."]),
    ...(effectiveness === "durable" ? ["A success means that the change is on disk."] : []),
  ];
  return rules.join(" ");
}

class OpenApiWriter {
  readonly #book = new SchemaBook();
  readonly #errors = new ErrorResponses(this.#book);
  readonly #examples: Examples;

  constructor(examples: Examples) {
    this.#examples = examples;
  }

  document() {
    nameEvents(this.#book);
    const paths = documentedPaths();
    const areas = new Set(paths.flatMap(({ operations }) => operations.map(({ area }) => area)));
    const items = Object.fromEntries(paths.map((path) => [path.template, this.#pathItem(path)]));
    return {
      openapi: "3.1.0",
      info: {
        title: "Colloquy",
        version: programVersion,
        description,
        license: { name: "Apache 2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: "/api/v1" }],
      tags: [...areas].sort().map((area) => ({ name: capitalized(area) })),
      paths: items,
      components: {
        securitySchemes: {
          [basic]: {
            type: "http",
            scheme: "basic",
            description: "The email address of the account as user name, its API key as password.",
          },
          [session]: {
            type: "apiKey",
            in: "cookie",
            name: "__Host-session",
            description:
              "Set by the operation `log-in`, for pages of this server only: requests need `Sec-Fetch-Site: same-origin`. Without TLS the name is `session`.",
          },
        },
        parameters: headerParameters,
        headers,
        responses: { ...this.#errors.components, HeadTooLarge: headTooLarge },
        schemas: this.#book.components,
      },
    };
  }

  #pathItem(path: DocumentedPath): JsonSchema {
    return Object.fromEntries(
      path.operations.map((operation) => [
        operation.endpoints[0].method.toLowerCase(),
        this.#operation(path, operation),
      ]),
    );
  }

  #operation(path: DocumentedPath, operation: DocumentedOperation): JsonSchema {
    const { area, endpoints } = operation;
    const [endpoint, ...others] = endpoints;
    const { parameters: plain, requestBody } = inputOf(this.#book, endpoint);
    const example = this.#examples[endpoint.operationId] ?? { params: {} };
    const parameters = plain.map((one) => parameterExample(example, String(one["name"]), one));
    const body = requestBody === undefined ? {} : { requestBody: bodyExample(example, endpoint, requestBody) };
    const own = pathVariables(endpoint.path).map(({ name }) => name);
    const variables = path.variables.map((name, index) => {
      const parameter = pathParameter(this.#book, endpoints, index, name);
      return parameterExample({ params: { [name]: example.params[own[index] ?? ""] } }, name, parameter);
    });
    const isRepeatable = endpoint.effectiveness === "durable" && endpoint.authentication !== "none";
    const headerNames = [
      ...(isRepeatable ? ["IdempotencyKey"] : []),
      ...(endpoint.tagged === true ? ["IfNoneMatch"] : []),
    ];
    const refs = headerNames.map((name) => ({ $ref: `#/components/parameters/${name}` }));
    const all = [...variables, ...parameters, ...refs];
    const rules = rulesOf(endpoint);
    return {
      operationId: endpoint.operationId,
      ...(others.length === 0 ? {} : { "x-also": others.map(({ operationId }) => operationId) }),
      tags: [capitalized(area)],
      summary: withoutReferences(endpoint.summary),
      ...(rules === "" ? {} : { description: rules }),
      security: security[endpoint.authentication],
      ...(all.length === 0 ? {} : { parameters: all }),
      ...body,
      responses: {
        ...successResponses(this.#book, endpoint, example),
        ...this.#errors.of(codesOf(operation)),
        ...(parameters.length === 0 ? {} : { "431": { $ref: "#/components/responses/HeadTooLarge" } }),
      },
    };
  }
}

export type OpenApiDocument = ReturnType<OpenApiWriter["document"]>;

/** @param examples none where only the schemas are needed */
export function openApiDocument(examples: Examples = {}): OpenApiDocument {
  return new OpenApiWriter(examples).document();
}
