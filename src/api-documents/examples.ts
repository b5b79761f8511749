/**
 * Examples of the operations: one successful request of each, and its answer, as a server gave it (examples.json), and of
 * the frames of the WebSocket (frame-examples.json). test/api-documents/examples.test.ts records them. They are read when
 * a document is asked for.
 */
import type { Endpoint } from "../../schemas/endpoint.ts";
import type { JsonSchema } from "./json-schema.ts";

export interface Example {
  /** Path variables and form parameters. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Absent if no server without further services succeeds. */
  readonly answer?: Readonly<Record<string, unknown>>;
}

export type Examples = Readonly<Record<string, Example>>;

export async function loadExamples(): Promise<Examples> {
  const { default: examples } = await import("./examples.json", { with: { type: "json" } });
  return examples as Examples;
}

/** A frame by the name of its message. */
export type FrameExamples = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export async function loadFrameExamples(): Promise<FrameExamples> {
  const { default: examples } = await import("./frame-examples.json", { with: { type: "json" } });
  return examples as FrameExamples;
}

/** A parameter of a path, a query or a header with its example. */
export function parameterExample({ params }: Example, name: string, parameter: JsonSchema): JsonSchema {
  if (params[name] === undefined) return parameter;
  const { content } = parameter as { readonly content?: Readonly<Record<string, JsonSchema>> };
  if (content === undefined) return { ...parameter, example: params[name] };
  const json = { ...content["application/json"], example: params[name] };
  return { ...parameter, content: { "application/json": json } };
}

/** The form of a body with its example. A file cannot be shown. */
export function bodyExample(example: Example, endpoint: Endpoint, body: JsonSchema): JsonSchema {
  const inPath = new Set([...endpoint.path.matchAll(/\{(\w+)\*?\}/g)].map(([, name]) => name));
  const sent = Object.entries(example.params).filter(([name]) => !inPath.has(name));
  const { content = {} } = body as { readonly content?: Readonly<Record<string, JsonSchema>> };
  const [[type, form] = []] = Object.entries(content);
  if (type === undefined || endpoint.upload !== undefined || sent.length === 0) return body;
  return { ...body, content: { [type]: { ...form, example: Object.fromEntries(sent) } } };
}
