/** One request of the REST API: forms out, JSON in. Repetitions are the business of client.ts. */
import { jsonOrText } from "./api/index.ts";
import { ApiError, ConnectionError } from "./errors.ts";
import type { Access } from "./zuliprc.ts";

export interface RequestSettings {
  readonly credentials: Access;
  readonly fetch: typeof fetch;
  /** Null in browsers, which do not let pages choose it. */
  readonly userAgent: string | null;
}

export interface UploadedFile {
  readonly name: string;
  readonly data: Blob;
}

export interface RequestParts {
  /** Method and path, as in `Operations`. */
  readonly operation: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: string | null;
  readonly file: UploadedFile | null;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | null;
}

export type AnswerBody = Readonly<Record<string, unknown>>;

/** @throws ApiError if the server rejects the request; ConnectionError if no answer of the API arrives */
export async function sendRequest(settings: RequestSettings, parts: RequestParts): Promise<AnswerBody> {
  const { operation, signal, timeoutMs, idempotencyKey } = parts;
  const timeout = AbortSignal.timeout(timeoutMs);
  const { url, init } = encodeRequest(settings, parts);
  let status = 0;
  let text: string;
  let retryAfter: string | null;
  try {
    const response = await settings.fetch(url, {
      ...init,
      signal: signal === null ? timeout : AbortSignal.any([signal, timeout]),
    });
    status = response.status;
    retryAfter = response.headers.get("Retry-After");
    text = await response.text();
  } catch (cause) {
    if (signal?.aborted === true) throw signal.reason;
    const why = timeout.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(cause);
    throw new ConnectionError(`${operation}: ${why}`, { cause, idempotencyKey });
  }
  const body = parseAnswer(text);
  if (body === null) {
    throw new ConnectionError(`${operation}: the answer is not one of the API (${status})`, { status, idempotencyKey });
  }
  if (body["result"] === "success") return body;
  throw new ApiError(operation, status, body, retryAfter);
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return cause.cause instanceof Error ? `${cause.message}: ${cause.cause.message}` : cause.message;
}

function parseAnswer(text: string): AnswerBody | null {
  try {
    const body: unknown = JSON.parse(text);
    const isEnvelope = typeof body === "object" && body !== null && "result" in body;
    return isEnvelope ? (body as AnswerBody) : null;
  } catch {
    return null;
  }
}

/** The same request as a frame: its parameters are the texts of the form, so that one key means one request (D25). */
export function encodeCall({ operation, params, file }: RequestParts) {
  const [method = "", path = ""] = operation.split(" ");
  const { pathname, rest } = fillPath(path, params);
  const form = encodeForm(rest, file) as Iterable<[string, unknown]>;
  return { method, path: pathname, params: Object.fromEntries(form) };
}

function encodeRequest(settings: RequestSettings, parts: RequestParts) {
  const { credentials, userAgent } = settings;
  const [method = "", path = ""] = parts.operation.split(" ");
  const { pathname, rest } = fillPath(path, parts.params);
  const form = encodeForm(rest, parts.file);
  const isInQuery = method === "GET";
  const query = isInQuery && form instanceof URLSearchParams && form.size > 0 ? `?${form}` : "";
  return {
    url: `${credentials.site}/api/v1${pathname}${query}`,
    init: {
      method,
      headers: {
        ...(credentials.key === null
          ? {}
          : { Authorization: `Basic ${base64(`${credentials.email}:${credentials.key}`)}` }),
        ...(userAgent === null ? {} : { "User-Agent": userAgent }),
        ...(parts.idempotencyKey === null ? {} : { "Idempotency-Key": parts.idempotencyKey }),
      },
      ...(isInQuery ? {} : { body: form }),
      cache: "no-store" as const,
      // Stored credentials of the browser do not belong to an API key; the server rejects them.
      credentials: credentials.key === null ? ("same-origin" as const) : ("omit" as const),
    },
  };
}

/** Replaces `{name}` in a path; `{name*}` may contain slashes. */
function fillPath(path: string, params: Readonly<Record<string, unknown>>) {
  const rest = new Map(Object.entries(params));
  const pathname = path.replace(/\{(\w+)(\*?)\}/g, (_, name: string, isLong: string) => {
    const value = rest.get(name);
    if (value === undefined) throw new TypeError(`${path} needs the parameter ${name}`);
    rest.delete(name);
    const text = String(value);
    return isLong === "" ? encodeURIComponent(text) : text.split("/").map(encodeURIComponent).join("/");
  });
  return { pathname, rest };
}

function encodeForm(params: ReadonlyMap<string, unknown>, file: UploadedFile | null): URLSearchParams | FormData {
  const form = file === null ? new URLSearchParams() : new FormData();
  for (const [name, value] of params) {
    if (value === undefined) continue;
    const isText = typeof value === "string" && !jsonOrText.has(name);
    form.set(name, isText ? value : JSON.stringify(value));
  }
  if (file !== null && form instanceof FormData) form.set("file", file.data, file.name);
  return form;
}

/** Encodes the UTF-8 bytes; `btoa` alone knows only Latin-1. */
function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
