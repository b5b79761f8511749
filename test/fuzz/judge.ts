/** The legal responses to any input: the envelope with a declared code; never a bug, never its stack trace. */
import { Compile } from "typebox/compile";
import { commonErrors, type Endpoint } from "../../schemas/endpoint.ts";
import { type ErrorCode, errorCodes } from "../../schemas/errors.ts";
import { endpoints } from "../../schemas/index.ts";
import { Router } from "../../src/edge/http/router.ts";
import type { RawAnswer } from "../support/http.ts";
import type { Input } from "./inputs.ts";

const router = new Router(endpoints.map((endpoint) => ({ endpoint })));
const results = new Map(endpoints.map((endpoint) => [endpoint.operationId, Compile(endpoint.okSchema)]));

/**
 * Errors without an operation, when path or method match none. The body is counted, and its page checked, before its
 * route is known.
 */
const routingErrors: readonly ErrorCode[] = [
  "NOT_FOUND",
  "METHOD_NOT_ALLOWED",
  "BAD_REQUEST",
  "PAYLOAD_TOO_LARGE",
  "CSRF_FAILED",
];

/** 503 is a correct response of operations with a bound on concurrency (S3). */
const bounded: ReadonlySet<string> = new Set([
  "fetch-api-key",
  "create-user",
  "update-settings",
  "update-display-settings",
  "update-notification-settings",
  "upload-file",
  "upload-avatar",
  "upload-custom-emoji",
  "upload-realm-icon",
  "upload-realm-logo",
]);

export const traces = /\bat [^\n"]*:\d+:\d+|node:internal|node_modules|\b(?:Type|Range|Reference|Syntax)Error\b/;

function operationOf(input: Input): Endpoint | null {
  const match = router.match(input.method, input.target.split("?")[0] ?? "");
  return match.kind === "found" ? match.target.endpoint : null;
}

/** @returns the fault in the response; null: none */
export function faultOf(input: Input, answer: RawAnswer): string | null {
  const { status, headers, text } = answer;
  if (status === 304 || input.method === "HEAD" || (input.method === "OPTIONS" && status === 204)) {
    return status < 500 ? null : `status ${status}`;
  }
  if (headers["content-type"] !== "application/json") return `Content-Type ${headers["content-type"]}`;
  let body: { result?: unknown; msg?: unknown; code?: unknown } & Record<string, unknown>;
  try {
    body = JSON.parse(text);
  } catch {
    return `not JSON: ${text.slice(0, 200)}`;
  }
  const operation = operationOf(input);
  return body.result === "success" ? faultOfSuccess(operation, status, body) : faultOfError(operation, answer, body);
}

function faultOfSuccess(operation: Endpoint | null, status: number, body: Record<string, unknown>): string | null {
  if (operation === null) return "a success without an operation";
  const expected = operation.redirects === true ? 302 : 200;
  if (status !== expected || body["msg"] !== "" || "code" in body)
    return `a success with status ${status}, msg, or code`;
  return results.get(operation.operationId)?.Check(body) === true
    ? null
    : "a result that does not match its declaration";
}

function faultOfError(operation: Endpoint | null, answer: RawAnswer, body: Record<string, unknown>): string | null {
  const code = body["code"] as ErrorCode;
  if (body["result"] !== "error" || typeof body["msg"] !== "string" || body["msg"] === "") return "no envelope";
  if (errorCodes[code]?.status !== answer.status) return `status ${answer.status} with code ${code}`;
  if (code === "INTERNAL_SERVER_ERROR") return "a bug of the server";
  if (answer.status >= 500 && !(code === "OVERLOADED" && bounded.has(operation?.operationId ?? ""))) return `a ${code}`;
  if (traces.test(body["msg"])) return "a stack trace";
  const declared = operation === null ? routingErrors : [...operation.errors, ...commonErrors];
  return declared.includes(code) ? null : `${code} is not declared by ${operation?.operationId ?? "no operation"}`;
}
