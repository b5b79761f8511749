/** The status and its reason, as the transport writes them. */

const reasons: Readonly<Record<number, string>> = {
  204: "204 No Content",
  206: "206 Partial Content",
  302: "302 Found",
  304: "304 Not Modified",
  400: "400 Bad Request",
  401: "401 Unauthorized",
  403: "403 Forbidden",
  404: "404 Not Found",
  405: "405 Method Not Allowed",
  409: "409 Conflict",
  413: "413 Content Too Large",
  416: "416 Range Not Satisfiable",
  429: "429 Too Many Requests",
  500: "500 Internal Server Error",
  503: "503 Service Unavailable",
};

/** An unknown status has no reason. */
export function statusLine(status: number): string {
  return reasons[status] ?? String(status);
}
