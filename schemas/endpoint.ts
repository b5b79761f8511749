/**
 * One declaration defines one operation: route, authentication, parameters, result, errors and documentation.
 * Everything else (validators, ignored parameters, the reference, fuzz generators) is derived from it.
 *
 * A parameter's schema determines its encoding. A string is raw text; everything else is JSON text (spec 4). `wire:
 * "json-or-text"` tries JSON and falls back to raw text (D9, `to` of a message). A parameter with a `default` is filled
 * in before the handler runs.
 */
import { type Static, type TObject, type TProperties, type TSchema, Type } from "typebox";
import type { ErrorCode } from "./errors.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Authentication of the caller. `optional`: the caller if credentials were sent, otherwise anonymous. */
export type Authentication = "user" | "none" | "optional";

/** The role required of the caller, checked before the parameters; the actor checks it again in the turn. */
export type RequiredRole = "human" | "member" | "human-member" | "administrator";

/** How repeated requests are handled. `durable` operations store their answer under an Idempotency-Key (D25). */
export type EffectKind = "read" | "durable" | "volatile";

export interface EndpointDeclaration<P extends TProperties, R extends TProperties> {
  /** As in the public API reference, in kebab case. */
  readonly operationId: string;
  readonly method: Method;
  /** Below /api/v1; `{name}` is a path variable, `{name*}` one that may contain slashes. */
  readonly path: string;
  readonly authentication: Authentication;
  readonly effectiveness: EffectKind;
  readonly role?: RequiredRole;
  /** Incoming webhook bots may only send messages: all other operations reject them (behaviour 1.5). */
  readonly allowsIncomingWebhooks?: true;
  readonly summary: string;
  /** Path variables and form parameters. */
  readonly params: P;
  /** Fields of a successful answer besides the envelope (spec 2.1). */
  readonly ok: R;
  /** Error codes besides those of all operations (see `commonErrors`). */
  readonly errors: readonly ErrorCode[];
  /** Alternative parameter names, e.g. `subject` for `topic`. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Its success is a redirect (302). */
  readonly redirects?: true;
  /** Its answer may have an ETag; a client that sends it in If-None-Match gets 304. */
  readonly tagged?: true;
  /** The answer may set a cookie, so a page of another site must not make a browser send the request. */
  readonly setsCookies?: true;
  /** Accepts multipart bodies with files; without this, a part with a file name is an ordinary parameter. */
  readonly upload?: UploadDeclaration;
}

export interface UploadDeclaration {
  /** Limit for one file. null: the file is streamed to disk, and the server's configuration limits its size. */
  readonly bytesMax: number | null;
}

export interface Endpoint<P extends TProperties = TProperties, R extends TProperties = TProperties>
  extends EndpointDeclaration<P, R> {
  readonly paramsSchema: TObject<P>;
  readonly okSchema: TObject<R>;
}

/** Fields of every answer, besides those that its operation declares (spec 2.1). */
export const envelopeFields: ReadonlySet<string> = new Set(["result", "msg", "ignored_parameters_unsupported"]);

/** Codes that every operation may return. */
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
  "OWNER_UNREACHABLE",
  "INTERNAL_SERVER_ERROR",
];

export function defineEndpoint<P extends TProperties, R extends TProperties>(
  declaration: EndpointDeclaration<P, R>,
): Endpoint<P, R> {
  return { ...declaration, paramsSchema: Type.Object(declaration.params), okSchema: Type.Object(declaration.ok) };
}

/** Parameters passed to the handler of an endpoint. */
export type ParamsOf<E> = E extends Endpoint<infer P, TProperties> ? Static<TObject<P>> : never;
/** Fields that the handler of an endpoint returns besides the envelope. */
export type ResultOf<E> = E extends Endpoint<TProperties, infer R> ? AnswerOf<R> : never;

/** The fields of a successful answer by their schemas. Handlers may return data that is shared, so all is readonly. */
export type AnswerOf<R extends TProperties> = DeepReadonly<Static<TObject<R>>>;

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** Encoding of a parameter in a form. */
export type Wire = "json" | "text" | "json-or-text";

export function wireOf(schema: TSchema): Wire {
  const declared = (schema as { wire?: Wire }).wire;
  if (declared !== undefined) return declared;
  return (schema as { type?: string }).type === "string" ? "text" : "json";
}

/** A variable of an endpoint's path: `{fragment*}` may contain slashes. */
export interface PathVariable {
  readonly name: string;
  readonly isRest: boolean;
}

/** The variables of a path, in its order. */
export function pathVariables(path: string): PathVariable[] {
  return [...path.matchAll(/\{(\w+)(\*?)\}/g)].map(([, name = "", star]) => ({ name, isRest: star === "*" }));
}
