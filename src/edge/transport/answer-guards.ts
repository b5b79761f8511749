/** Headers of every answer that guard browsers, whoever writes it (D277). */
import type { TransportResponse } from "./transport.ts";

/** Two years, for this host alone: other hosts of the domain may have no certificate. */
const transportSecurity = "max-age=63072000";

/** @param isSecure whether the browser's connection is encrypted, as far as the server knows */
export function writeAnswerGuards(response: Pick<TransportResponse, "writeHeader">, isSecure: boolean): void {
  response.writeHeader("X-Content-Type-Options", "nosniff");
  if (isSecure) response.writeHeader("Strict-Transport-Security", transportSecurity);
}
