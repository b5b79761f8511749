/** A rejection as a reply in the envelope, with the headers that its code requires (D1, D2). */
import type { Refusal } from "../../schemas/errors.ts";
import { bodyOf, headersOf, statusOf } from "../runtime/results.ts";
import type { HttpReply } from "./calls.ts";

export type Refused = HttpReply & { readonly body: string };

export function refused(refusal: Refusal, headers: HttpReply["headers"] = []): Refused {
  const body = JSON.stringify(bodyOf(refusal));
  return { status: statusOf(refusal), body, headers: [...headers, ...headersOf(refusal)] };
}
