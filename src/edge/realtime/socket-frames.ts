/**
 * Frames of the WebSocket protocol (docs/realtime.md): decodes requests and encodes replies, as JSON text or
 * MessagePack.
 */
import { Packr } from "msgpackr";
import { codePoints } from "../../../domain/text.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import { newValueBudget, parseJson, type ValueBudget } from "../../../schemas/json.ts";
import { limits } from "../../../schemas/limits.ts";
import { bodyText, isPieced } from "../../operations/answer-bytes.ts";
import type { AnswerBody } from "../../operations/calls.ts";
import { addParameter } from "../../runtime/submitted-values.ts";
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

const packr = new Packr({ useRecords: false, variableMapSize: true });
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

/** @param body a JSON object as text: the answer of an operation, including the envelope */
export function encodeReply(format: Format, ref: string | null, body: string, type = "reply"): string | Buffer {
  if (format === "msgpack") return packr.pack({ ...headOf(type, ref), ...(JSON.parse(body) as object) });
  const opening = openingOf(type, ref);
  return body === "{}" ? `${opening}}` : `${opening},${body.slice(1)}`;
}

function headOf(type: string, ref: string | null) {
  return ref === null ? { type } : { type, ref };
}

/** The JSON text of a reply up to its first field. */
function openingOf(type: string, ref: string | null): string {
  return JSON.stringify(headOf(type, ref)).slice(0, -1);
}

/**
 * The reply with an operation's answer. A long body stays in pieces: joining megabytes would copy them (S3). MessagePack
 * needs the whole text.
 */
export function encodeAnswer(format: Format, ref: string | null, body: AnswerBody): AnswerBody {
  if (format === "msgpack" || typeof body === "string") return encodeReply(format, ref, bodyText(body));
  // The first piece begins with the brace of the object.
  const [first = "", ...rest] = isPieced(body) ? body : [body];
  return [`${openingOf("reply", ref)},`, first.slice(1), ...rest];
}

/** The parameters of a frame as a form with its bounds, as REST sends them: strings unchanged, the others as JSON text. */
export function formOf(
  fields: Readonly<Record<string, unknown>>,
  omit: readonly string[],
): Map<string, string> | Refusal {
  const form = new Map<string, string>();
  for (const [name, value] of Object.entries(fields)) {
    if (omit.includes(name) || value === undefined) continue;
    const refused = addParameter(form, name, typeof value === "string" ? value : JSON.stringify(value));
    if (refused !== null) return refused;
  }
  return form;
}
