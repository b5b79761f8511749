/** Maps frames to the operations that they request (docs/realtime.md). */

import { ownProperty } from "../../../domain/own-property.ts";
import { isRefusal, type Refusal, refuse } from "../../../schemas/errors.ts";
import { setTypingStatus, updatePresence } from "../../../schemas/presence.ts";
import { registerQueue } from "../../../schemas/register.ts";
import type { ConnectionFrameType, OperationFrameType } from "../../../schemas/socket-frames.ts";
import { type Authenticated, arrivedCall, type Call, type RequestingPage } from "../../operations/calls.ts";
import type { Operation, OperationExecutor } from "../../operations/execution/operation-executor.ts";
import type { Realm } from "../../runtime/realm.ts";
import { statusOf } from "../../runtime/results.ts";
import { type Router, unrouted } from "../http/router.ts";
import { type Format, type Frame, parametersOf } from "./socket-frames.ts";

/** The operation that a frame requests. */
export interface SocketRequest {
  readonly kind: "operation";
  readonly operation: Operation;
  /** The decoded values of the path's variables, in its order. */
  readonly variables: readonly string[];
  readonly params: ReadonlyMap<string, unknown>;
  readonly idempotencyKey: string | null;
}

/** The client's details from the upgrade request. */
export interface Visitor {
  readonly format: Format;
  readonly client: string;
  readonly siteUrl: string;
  readonly userAgent: string;
  readonly address: string;
}

const own = ["type", "ref"] as const;

/** Reads the frames of sockets. */
export class RequestReader {
  readonly #executor: OperationExecutor;
  readonly #router: Router<Operation>;
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #readings: Readonly<Record<OperationFrameType, (frame: Frame) => SocketRequest | Refusal>>;

  constructor(executor: OperationExecutor, router: Router<Operation>) {
    this.#executor = executor;
    this.#router = router;
    this.#operations = new Map(executor.operations.map((operation) => [operation.endpoint.operationId, operation]));
    this.#readings = {
      register: ({ fields }) => this.#request(registerQueue, parametersOf(fields, own)),
      presence: ({ fields }) => this.#request(updatePresence, parametersOf(fields, own)),
      typing: (frame) => this.#request(setTypingStatus, typingParameters(frame)),
      call: (frame) => this.#readCall(frame),
    };
  }

  /** The operation that a frame requests; for a frame that concerns the connection, its type. */
  read(frame: Frame): SocketRequest | Refusal | ConnectionFrameType {
    const { type } = frame;
    const read = ownProperty<(frame: Frame) => SocketRequest | Refusal>(this.#readings, type);
    if (read !== undefined) return read(frame);
    if (Object.hasOwn(connectionFrames, type)) return type as ConnectionFrameType;
    return refuse.badRequest(`Unknown frame type '${type.slice(0, 60)}'`);
  }

  #request(
    { operationId }: { readonly operationId: string },
    params: ReadonlyMap<string, unknown> | Refusal,
  ): SocketRequest | Refusal {
    if (isRefusal(params)) return params;
    const operation = this.#operations.get(operationId);
    if (operation === undefined) throw new Error(`there is no operation ${operationId}`);
    return { kind: "operation", operation, variables: [], params, idempotencyKey: null };
  }

  #readCall({ fields }: Frame): SocketRequest | Refusal {
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
    const values = parametersOf((params ?? {}) as Record<string, unknown>, []);
    if (isRefusal(values)) return values;
    const match = this.#router.match(method.toUpperCase(), below);
    if (match.kind !== "found") {
      const refusal = unrouted(match);
      this.#executor.requests.count(this.#executor.operations.length, statusOf(refusal));
      return refusal;
    }
    const { target: operation, variables } = match;
    return { kind: "operation", operation, variables, params: values, idempotencyKey: key ?? null };
  }
}

const connectionFrames: Readonly<Record<ConnectionFrameType, true>> = {
  authenticate: true,
  resume: true,
  ack: true,
  ping: true,
};

/**
 * The operation's own parameter `type` is the kind of conversation. In a frame `type` is taken, so the kind is derived
 * from the fields.
 */
function typingParameters({ fields }: Frame): ReadonlyMap<string, unknown> | Refusal {
  const params = parametersOf(fields, [...own, "message_type"]);
  if (isRefusal(params)) return params;
  const kind = fields["message_type"];
  return params.set("type", typeof kind === "string" ? kind : params.has("stream_id") ? "channel" : "direct");
}

/** Queues belong to the connection, uploads need a body, and cookies an HTTP answer: these paths cannot be called. */
const notCallable = /^\/(events|register|user_uploads|session)(\/|$)/;

/** The request as a call, like one by REST. */
export function callOf(realm: Realm, visitor: Visitor, account: Authenticated, request: SocketRequest): Call {
  const { client, siteUrl, userAgent, address } = visitor;
  return arrivedCall({
    realm,
    readParams: () => ({ values: request.params, files: [] }),
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
    sentIdempotencyKey: request.idempotencyKey,
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
