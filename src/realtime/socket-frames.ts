/** Frames of the WebSocket protocol (realtime.md): decoding what comes, encoding replies; JSON text or MessagePack. */
import { Packr } from "msgpackr";
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { parseJson } from "../../schemas/json.ts";
import { limits } from "../../schemas/limits.ts";
import { codePoints } from "../domain/text.ts";
import { unpackJson } from "./packed-json.ts";

export type Format = "json" | "msgpack";

/** A frame whose fields are still to be checked by what it asks for. */
export interface Frame {
  readonly type: string;
  /** null: the client does not ask for its name in the reply. */
  readonly ref: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
}

export type Decoded = { readonly frame: Frame } | { readonly refusal: Refusal; readonly ref: string | null };

const packr = new Packr({ useRecords: false, variableMapSize: true });
const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/** @param isBinary how the frame came; must fit the connection's format */
export function decodeFrame(format: Format, bytes: Uint8Array, isBinary: boolean): Decoded {
  const fail = (msg: string, ref: string | null = null): Decoded => ({ refusal: refuse.badRequest(msg), ref });
  if (isBinary !== (format === "msgpack")) {
    return fail(format === "json" ? "This connection speaks JSON text frames" : "This connection speaks MessagePack");
  }
  const value = format === "json" ? readJson(bytes) : unpackJson(bytes);
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

function readJson(bytes: Uint8Array): unknown {
  try {
    return parseJson(strictUtf8.decode(bytes));
  } catch {
    return undefined;
  }
}

/** @param body a JSON object as text: the answer of an operation, envelope and all */
export function encodeReply(format: Format, ref: string | null, body: string, type = "reply"): string | Buffer {
  const head = ref === null ? { type } : { type, ref };
  if (format === "msgpack") return packr.pack({ ...head, ...(JSON.parse(body) as object) });
  const opening = JSON.stringify(head).slice(0, -1);
  return body === "{}" ? `${opening}}` : `${opening},${body.slice(1)}`;
}

/** Parameters of a frame as a form: strings as they are, everything else as JSON text, as REST sends them. */
export function formOf(fields: Readonly<Record<string, unknown>>, omit: readonly string[]): Map<string, string> {
  const form = new Map<string, string>();
  for (const [name, value] of Object.entries(fields)) {
    if (omit.includes(name) || value === undefined) continue;
    form.set(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  return form;
}
