/** The page's client: one for the life of the page, with the cookie of the session. */
import { ApiError, type CallOptions, ConnectionError, connectSession } from "../../client/src/browser.ts";

export { ApiError, ConnectionError };

/** A person does not wait longer for a call that gets no answer; what they typed stays, and they can try again. */
const retryMs = 10_000;

export const client = connectSession(location.origin, { callsOverSocket: true, retryMs });

/** An error, in words for a person. */
export function explain(error: unknown): string {
  if (error instanceof ApiError) return String(error.answer["msg"] ?? error.code);
  if (error instanceof ConnectionError) return "The server did not answer. Check your network, then try again.";
  return error instanceof Error ? error.message : String(error);
}

/** Keys of requests whose answers were lost, by their content. */
const lostKeys = new Map<string, string>();
const lostKeysMax = 50;

/** Runs a request that a person may repeat after its answer was lost: the same request has the same key, so it is executed once. */
export async function once<T>(request: object, run: (options: CallOptions) => Promise<T>): Promise<T> {
  const content = JSON.stringify(request);
  const idempotencyKey = lostKeys.get(content);
  lostKeys.delete(content);
  try {
    return await run(idempotencyKey === undefined ? {} : { idempotencyKey });
  } catch (error) {
    const [oldest] = lostKeys.keys();
    if (oldest !== undefined && lostKeys.size >= lostKeysMax) lostKeys.delete(oldest);
    if (error instanceof ConnectionError && error.idempotencyKey !== null) lostKeys.set(content, error.idempotencyKey);
    throw error;
  }
}

/**
 * A request that no operation of the client stands for.
 * @throws ConnectionError, ApiError
 */
export async function request(method: string, path: string, form?: URLSearchParams): Promise<Record<string, unknown>> {
  const what = `${method} ${path}`;
  try {
    const response = await fetch(`/api/v1${path}`, {
      method,
      credentials: "same-origin",
      cache: "no-store",
      ...(form === undefined ? {} : { body: form }),
    });
    const body = (await response.json()) as Record<string, unknown>;
    if (response.ok) return body;
    throw new ApiError(what, response.status, body, response.headers.get("Retry-After"));
  } catch (error) {
    throw error instanceof ApiError ? error : new ConnectionError(what, { cause: error });
  }
}

export function isLoggedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}
