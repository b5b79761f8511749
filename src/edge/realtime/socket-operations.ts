/** Maps frames to the operations of the REST API that they request (docs/realtime.md). */

import { ownProperty } from "../../../domain/own-property.ts";
import { type Refusal, refuse } from "../../../schemas/errors.ts";
import type { ConnectionFrameType, OperationFrameType } from "../../../schemas/socket-frames.ts";
import { type Authenticated, arrivedCall, type Call, type RequestingPage } from "../../operations/calls.ts";
import type { Realm } from "../../runtime/realm.ts";
import { type Frame, formOf } from "./socket-frames.ts";
import type { Visitor } from "./socket-host.ts";

/** The part of the answer to POST /register from which a socket follows the queue. */
export interface EventQueueStart {
  readonly queue_id: string;
  readonly last_event_id: number;
}

export interface Operation {
  readonly kind: "operation";
  readonly method: string;
  /** Below /api/v1, percent-encoded. */
  readonly path: string;
  readonly params: ReadonlyMap<string, string>;
  readonly idempotencyHeader: string | null;
}

type Reading = (frame: Frame) => Operation | Refusal;

function post(path: string, params: ReadonlyMap<string, string> | Refusal): Operation | Refusal {
  if ("kind" in params) return params;
  return { kind: "operation", method: "POST", path, params, idempotencyHeader: null };
}

const readings: Readonly<Record<OperationFrameType, Reading>> = {
  register: ({ fields }) => post("/register", formOf(fields, ["type", "ref"])),
  presence: ({ fields }) => post("/users/me/presence", formOf(fields, ["type", "ref"])),
  typing: readTyping,
  call: readCall,
};

const connectionFrames: Readonly<Record<ConnectionFrameType, true>> = {
  authenticate: true,
  resume: true,
  ack: true,
  ping: true,
};

/** What a frame asks for; for a frame that concerns the connection, its type. */
export function readRequest(frame: Frame): Operation | Refusal | ConnectionFrameType {
  const { type } = frame;
  const read = ownProperty<Reading>(readings, type);
  if (read !== undefined) return read(frame);
  if (Object.hasOwn(connectionFrames, type)) return type as ConnectionFrameType;
  return refuse.badRequest(`Unknown frame type '${type.slice(0, 60)}'`);
}

/**
 * The operation's own parameter `type` is the kind of conversation. In a frame `type` is taken, so the kind is derived
 * from the fields.
 */
function readTyping({ fields }: Frame): Operation | Refusal {
  const form = formOf(fields, ["type", "ref", "message_type"]);
  if ("kind" in form) return form;
  const kind = fields["message_type"];
  form.set("type", typeof kind === "string" ? kind : form.has("stream_id") ? "channel" : "direct");
  return post("/typing", form);
}

/** Queues belong to the connection, uploads need a body, and cookies an HTTP answer: these paths cannot be called. */
const notCallable = /^\/(events|register|user_uploads|session)(\/|$)/;

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
  const form = formOf((params ?? {}) as Record<string, unknown>, []);
  if ("kind" in form) return form;
  return {
    kind: "operation",
    method: method.toUpperCase(),
    path: below,
    params: form,
    idempotencyHeader: key ?? null,
  };
}

/** The operation as the call that REST would make of it. */
export function callOf(realm: Realm, visitor: Visitor, account: Authenticated, operation: Operation): Call {
  const { client, siteUrl, userAgent, address } = visitor;
  return arrivedCall({
    realm,
    method: operation.method,
    path: operation.path,
    readParams: () => ({ values: operation.params, files: [] }),
    hasCredentials: true,
    unauthorized: null,
    caller: account.caller,
    keyHash: account.keyHash,
    isSession: account.isSession,
    page: noPage,
    client,
    siteUrl,
    userAgent,
    address: () => address,
    idempotencyHeader: operation.idempotencyHeader,
    ifNoneMatch: "",
    onAbort: neverAborted,
  });
}

/** Its upgrade was checked. */
const noPage: RequestingPage = { host: "", origin: "", fetchSite: "" };

/** A socket that closes does not abort its calls. */
const neverAborted = () => undefined;

/** Decoded as the router does; malformed paths are left to the router to reject. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
