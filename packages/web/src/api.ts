/** The page's client: one for the life of the page, with the cookie of the session. */
import { ApiError, ConnectionError, connectSession } from "../../client/src/browser.ts";

export { ApiError, ConnectionError };

/** A person does not wait longer for a call that gets no answer; what they typed stays, and they can try again. */
const retryMs = 10_000;

export const client = connectSession(location.origin, { callsOverSocket: true, retryMs });

/** What went wrong, in words for a person. */
export function explain(error: unknown): string {
  if (error instanceof ApiError) return String(error.answer["msg"] ?? error.code);
  if (error instanceof ConnectionError) return "The server did not answer. Check your network, then try again.";
  return error instanceof Error ? error.message : String(error);
}

export function isLoggedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}
