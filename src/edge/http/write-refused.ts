/** A rejection that is written in front of the HTTP server. */

import type { HandshakeResponse } from "../transport/transport.ts";
import { type Refused, writeAnswerGuards } from "./reply.ts";
import { statusLine } from "./status-line.ts";

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
