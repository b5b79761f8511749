/** The example of an operation as HTML: the request as a command for curl, and the answer. */
import type { JsonSchema } from "./json-schema.ts";
import { escaped } from "./page-text.ts";

type Named = Readonly<Record<string, JsonSchema>>;

interface Exemplified {
  readonly security: readonly object[];
  readonly parameters?: readonly JsonSchema[];
  readonly requestBody?: { readonly content: Named };
  readonly responses: Named;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A parameter's example; undefined: it has none. */
function exampleIn(parameter: JsonSchema): unknown {
  const content = parameter["content"] as Named | undefined;
  return content === undefined ? parameter["example"] : content["application/json"]?.["example"];
}

function curlOf(method: string, path: string, { security, parameters = [], requestBody }: Exemplified): string {
  const shown = parameters.map((one) => [String(one["name"]), String(one["in"]), exampleIn(one)] as const);
  const variables = new Map(
    shown.flatMap(([name, place, value]) => (place === "path" ? [[name, value] as const] : [])),
  );
  const address = path.replaceAll(/\{(\w+)\}/g, (whole, name: string) => asText(variables.get(name) ?? whole));
  const queried = shown.flatMap(([name, place, value]) =>
    place === "query" && value !== undefined ? [[name, value] as const] : [],
  );
  const [[type, form] = []] = Object.entries(requestBody?.content ?? {});
  const sent = Object.entries((form?.["example"] ?? {}) as object);
  const isUpload = type === "multipart/form-data";
  const parts = [
    `curl -X ${method.toUpperCase()}`,
    ...(security.length === 0 ? [] : ['-u "$EMAIL:$API_KEY"']),
    ...(queried.length === 0 ? [] : ["-G"]),
    quoted(`https://chat.example.com/api/v1${address}`),
    ...(isUpload ? ["-F 'file=@picture.png'"] : []),
    ...[...queried, ...sent].map(([name, value]) => `--data-urlencode ${quoted(`${name}=${asText(value)}`)}`),
  ];
  return parts.join(" \\\n  ");
}

/** @param resolve finds the parameter of a reference */
export function exampleOf(
  method: string,
  path: string,
  operation: Exemplified,
  resolve: (reference: string) => JsonSchema,
): string {
  const parameters = (operation.parameters ?? []).map((one) => {
    const { $ref: reference } = one;
    return typeof reference === "string" ? resolve(reference) : one;
  });
  const answers = Object.values(operation.responses).flatMap(({ content }) => {
    const answer = (content as Named | undefined)?.["application/json"]?.["example"];
    return answer === undefined ? [] : [answer];
  });
  const request = `<h3>Example</h3><pre>${escaped(curlOf(method, path, { ...operation, parameters }))}</pre>`;
  return request + answers.map((answer) => `<pre>${escaped(JSON.stringify(answer, null, 2))}</pre>`).join("");
}
