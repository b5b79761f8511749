/** Answers OPTIONS, for browser preflights and for debugging. */

import { refuse } from "../../../schemas/errors.ts";
import { type HttpReply, refused } from "./reply.ts";

/** @param methods those of the path; null: there is no such path */
export function preflight(methods: readonly string[] | null): HttpReply {
  if (methods === null) return refused(refuse.notFound());
  const allowed = methods.join(", ");
  return {
    status: 204,
    body: "",
    headers: [
      ["Allow", allowed],
      ["Access-Control-Allow-Methods", allowed],
      ["Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, X-Request-Id"],
      ["Access-Control-Max-Age", "7200"],
    ],
  };
}
