/** A rejection as a reply in the envelope, with the headers that its code requires (D1, D2). */
import type { Refusal } from "../../schemas/errors.ts";
import type { HttpReply } from "../runtime/calls.ts";
import { bodyOf, headersOf, statusOf } from "../runtime/results.ts";
import { writeAnswerGuards } from "../transport/answer-guards.ts";
import type { HandshakeResponse } from "../transport/transport.ts";
import { statusLine } from "./status-line.ts";

export type Refused = HttpReply & { readonly body: string };

export function refused(refusal: Refusal, headers: HttpReply["headers"] = []): Refused {
  const body = JSON.stringify(bodyOf(refusal));
  return { status: statusOf(refusal), body, headers: [...headers, ...headersOf(refusal)] };
}

/** Writes it where no request is answered otherwise: in front of the HTTP server. */
export function writeRefused(
  response: Pick<HandshakeResponse, "cork" | "writeStatus" | "writeHeader" | "end">,
  { status, body, headers }: Refused,
  { isSecure, closesConnection }: { readonly isSecure: boolean; readonly closesConnection: boolean },
): void {
  response.cork(() => {
    response.writeStatus(statusLine(status));
    response.writeHeader("Content-Type", "application/json");
    writeAnswerGuards(response, isSecure);
    for (const [name, value] of headers) response.writeHeader(name, value);
    response.end(body, closesConnection);
  });
}
