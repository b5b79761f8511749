/** Frames that are operations of the REST API in other words (realtime.md): what each of them calls. */
import { type Refusal, refuse } from "../../schemas/errors.ts";
import { type Frame, formOf } from "./socket-frames.ts";

export interface Operation {
  readonly kind: "operation";
  readonly method: string;
  /** Below /api/v1, percent-encoded. */
  readonly path: string;
  readonly params: ReadonlyMap<string, string>;
  readonly idempotencyKey: string | null;
}

type Reading = (frame: Frame) => Operation | Refusal;

function post(path: string, params: ReadonlyMap<string, string>): Operation {
  return { kind: "operation", method: "POST", path, params, idempotencyKey: null };
}

const readings: ReadonlyMap<string, Reading> = new Map<string, Reading>([
  ["register", ({ fields }) => post("/register", formOf(fields, ["type", "ref"]))],
  ["presence", ({ fields }) => post("/users/me/presence", formOf(fields, ["type", "ref"]))],
  ["typing", readTyping],
  ["call", readCall],
]);

/** null: the frame is not an operation. */
export function readOperation(frame: Frame): Operation | Refusal | null {
  const read = readings.get(frame.type);
  return read === undefined ? null : read(frame);
}

/** The operation's own `type` is the kind of conversation; here the word is taken, so it follows from the fields. */
function readTyping({ fields }: Frame): Operation {
  const form = formOf(fields, ["type", "ref", "message_type"]);
  const kind = fields["message_type"];
  form.set("type", typeof kind === "string" ? kind : form.has("stream_id") ? "channel" : "direct");
  return post("/typing", form);
}

/** Queues and uploads belong to the connection or to a body: they are not called. */
const notCallable = /^\/(events|register|user_uploads)(\/|$)/;

function readCall({ fields }: Frame): Operation | Refusal {
  const { method, path, params, idempotency_key: key } = fields;
  if (typeof method !== "string" || typeof path !== "string") return refuse.badRequest("call needs method and path");
  if (params !== undefined && (typeof params !== "object" || params === null || Array.isArray(params))) {
    return refuse.badRequest("params is not a dict");
  }
  if (key !== undefined && typeof key !== "string") return refuse.badRequest("idempotency_key is not a string");
  const below = path.startsWith("/api/v1/") ? path.slice("/api/v1".length) : path;
  if (notCallable.test(decoded(below)) || below.includes("?")) {
    return refuse.badRequest(`${path.slice(0, 100)} cannot be called over a socket`);
  }
  return {
    kind: "operation",
    method: method.toUpperCase(),
    path: below,
    params: formOf((params ?? {}) as Record<string, unknown>, []),
    idempotencyKey: key ?? null,
  };
}

/** As the router will read it; what is malformed is the router's to refuse. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
