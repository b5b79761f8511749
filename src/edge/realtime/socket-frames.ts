/**
 * Frames of the WebSocket protocol (docs/realtime.md): decodes requests and encodes replies, as JSON text or
 * MessagePack.
 */
import { Packr } from "msgpackr";
import { codePoints } from "../../../domain/text.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { newValueBudget, parseJson, type ValueBudget } from "../../../schemas/json.ts";
import { limits } from "../../../schemas/limits.ts";
import { addParameter } from "../../operations/calls.ts";
import { bodyOf, type Result } from "../../runtime/results.ts";
import { type AnswerBody, bodyText, isPieced, jsonBody } from "../http/reply.ts";
import { unpackJson } from "./packed-json.ts";

export type Format = "json" | "msgpack";

/** A frame whose fields are checked later, by the operation it requests. */
export interface Frame {
  readonly type: string;
  /** null if the client sent no `ref` to be repeated in the reply. */
  readonly ref: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
}

export type Decoded = { readonly frame: Frame } | { readonly refusal: Refusal; readonly ref: string | null };

/** Properties without a value are absent, as in JSON. */
const packing = { useRecords: false, variableMapSize: true, skipValues: [undefined] };
const packr = new Packr(packing);
const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/** @param isBinary whether the frame arrived as binary; it must match the connection's format */
export function decodeFrame(format: Format, bytes: Uint8Array, isBinary: boolean): Decoded {
  const fail = (msg: string, ref: string | null = null): Decoded => ({ refusal: refuse.badRequest(msg), ref });
  if (isBinary !== (format === "msgpack")) {
    return fail(format === "json" ? "This connection speaks JSON text frames" : "This connection speaks MessagePack");
  }
  const budget = newValueBudget();
  const value = format === "json" ? readJson(bytes, budget) : unpackJson(bytes, budget);
  if (budget.left < 0) return fail(`The frame has too many values (limit: ${limits.json_values_max})`);
  if (value === undefined) return fail(format === "json" ? "Malformed JSON" : "Malformed MessagePack");
  if (typeof value !== "object" || value === null || Array.isArray(value)) return fail("A frame must be an object");
  const fields = value as Record<string, unknown>;
  const ref = fields["ref"];
  if (ref !== undefined && (typeof ref !== "string" || codePoints(ref) > limits.ws_ref_code_points_max)) {
    return fail(`ref must be a string of at most ${limits.ws_ref_code_points_max} characters`);
  }
  if (typeof fields["type"] !== "string") return fail("type is not a string", ref ?? null);
  return { frame: { type: fields["type"], ref: ref ?? null, fields } };
}

function readJson(bytes: Uint8Array, budget: ValueBudget): unknown {
  try {
    return parseJson(strictUtf8.decode(bytes), budget);
  } catch {
    return undefined;
  }
}

/** A reply to a frame; `type` is "pong" for a ping. */
export function encodeReply(format: Format, ref: string | null, fields: object, type = "reply"): string | Buffer {
  const reply = { ...headOf(type, ref), ...fields };
  return format === "json" ? JSON.stringify(reply) : packr.pack(reply);
}

function headOf(type: string, ref: string | null) {
  return ref === null ? { type } : { type, ref };
}

/**
 * The reply with an operation's answer. A long one stays in parts: joining megabytes would copy them (S3). Parts that
 * are already JSON, such as stored messages, are parsed for MessagePack.
 * @param ignored the names of parameters that the operation does not declare
 */
export function encodeAnswer(
  format: Format,
  ref: string | null,
  result: Result,
  ignored: readonly string[],
): AnswerBody {
  if (format === "json") return jsonAnswer(ref, jsonBody(result, ignored));
  if (result.kind === "refused") return encodeReply(format, ref, bodyOf(result));
  const rest = ignored.length > 0 ? { ignored_parameters_unsupported: ignored } : {};
  if (result.kind === "ok") return encodeReply(format, ref, { ...bodyOf(result), ...rest });
  return encodeReply(format, ref, JSON.parse(bodyText(jsonBody(result, ignored))) as object);
}

function jsonAnswer(ref: string | null, body: AnswerBody): AnswerBody {
  const opening = `${JSON.stringify(headOf("reply", ref)).slice(0, -1)},`;
  if (typeof body === "string") return `${opening}${body.slice(1)}`;
  // The first piece begins with the brace of the object.
  const [first = "", ...others] = isPieced(body) ? body : [body];
  return [opening, first.slice(1), ...others];
}

/** The parameters of a frame, with the bounds of a form's. */
export function parametersOf(
  fields: Readonly<Record<string, unknown>>,
  omit: readonly string[],
): Map<string, unknown> | Refusal {
  const params = new Map<string, unknown>();
  for (const [name, value] of Object.entries(fields)) {
    if (omit.includes(name) || value === undefined) continue;
    const refused = addParameter(params, name, value);
    if (refused !== null) return refused;
  }
  return params;
}
