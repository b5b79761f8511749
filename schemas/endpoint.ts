/**
 * One declaration is one operation: route, authentication, parameters, result, errors and documentation.
 * Everything else (validators, ignored parameters, the reference, the fuzz arbitraries) is derived from it.
 *
 * How a parameter travels is said by its schema. A string is raw text; everything else is JSON text (spec 4).
 * `wire: "json-or-text"` tries JSON and falls back to the raw text (D9, `to` of a message).
 * A parameter with a `default` is filled in before the handler sees it.
 */
import { type Static, type TObject, type TProperties, type TSchema, Type } from "typebox";
import type { ErrorCode } from "./errors.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Who may call. `optional`: a caller if credentials were sent, else anonymous. */
export type Authentication = "user" | "none" | "optional";

/** What the caller must be, looked at before the parameters; the actor decides again in the turn. */
export type RequiredRole = "human" | "member" | "human-member" | "administrator";

/** How a repeated request is treated. `durable` operations keep their answer under an Idempotency-Key (D25). */
export type Effectiveness = "read" | "durable" | "volatile";

export interface EndpointDeclaration<P extends TProperties, R extends TProperties> {
  /** As in the public API reference, kebab case. */
  readonly operationId: string;
  readonly method: Method;
  /** Below /api/v1; `{name}` is a path variable, `{name*}` one that may contain slashes. */
  readonly path: string;
  readonly authentication: Authentication;
  readonly effectiveness: Effectiveness;
  readonly role?: RequiredRole;
  /** Incoming webhook bots may only send: whatever does not say this is closed to them (behaviour 1.5). */
  readonly allowsIncomingWebhooks?: true;
  readonly summary: string;
  /** Path variables and form parameters alike. */
  readonly params: P;
  /** Fields of a success answer beside the envelope (spec 2.1). */
  readonly ok: R;
  /** Codes beyond those that every operation can answer (see `commonErrors`). */
  readonly errors: readonly ErrorCode[];
  /** Accepted other names, e.g. `subject` for `topic`. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The body may be multipart with files; without this, a part with a file name is a parameter like any other. */
  readonly upload?: UploadDeclaration;
}

export interface UploadDeclaration {
  /** Of one file. null: it goes to disk as it comes, and the server's configuration says how large it may be. */
  readonly bytesMax: number | null;
}

export interface Endpoint<P extends TProperties = TProperties, R extends TProperties = TProperties>
  extends EndpointDeclaration<P, R> {
  readonly paramsSchema: TObject<P>;
  readonly okSchema: TObject<R>;
}

/** Codes that any operation can answer, whatever it declares. */
export const commonErrors: readonly ErrorCode[] = [
  "BAD_REQUEST",
  "REQUEST_VARIABLE_MISSING",
  "UNAUTHORIZED",
  "CSRF_FAILED",
  "INVALID_API_KEY",
  "USER_DEACTIVATED",
  "REALM_DEACTIVATED",
  "PAYLOAD_TOO_LARGE",
  "RATE_LIMIT_HIT",
  "STORE_REFUSES_WRITES",
  "SERVER_SHUTTING_DOWN",
  "OVERLOADED",
  "INTERNAL_SERVER_ERROR",
];

export function defineEndpoint<P extends TProperties, R extends TProperties>(
  declaration: EndpointDeclaration<P, R>,
): Endpoint<P, R> {
  return { ...declaration, paramsSchema: Type.Object(declaration.params), okSchema: Type.Object(declaration.ok) };
}

/** What the handler of an endpoint receives. */
export type ParamsOf<E> = E extends Endpoint<infer P, TProperties> ? Static<TObject<P>> : never;
/** What the handler of an endpoint answers beside the envelope. */
export type ResultOf<E> = E extends Endpoint<TProperties, infer R> ? Static<TObject<R>> : never;

/** How a schema travels in a form. */
export type Wire = "json" | "text" | "json-or-text";

export function wireOf(schema: TSchema): Wire {
  const declared = (schema as { wire?: Wire }).wire;
  if (declared !== undefined) return declared;
  return (schema as { type?: string }).type === "string" ? "text" : "json";
}
