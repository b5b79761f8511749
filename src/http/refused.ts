/** A refusal as an answer in the envelope, with the headers that its kind demands (D1, D2). */
import type { Refusal } from "../../schemas/errors.ts";
import type { Performed } from "../runtime/calls.ts";
import { bodyOf, headersOf, statusOf } from "../runtime/entry.ts";

export function refused(refusal: Refusal, headers: Performed["headers"] = []): Performed {
  const body = JSON.stringify(bodyOf(refusal));
  return { status: statusOf(refusal), body, headers: [...headers, ...headersOf(refusal)] };
}
