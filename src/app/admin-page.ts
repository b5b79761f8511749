/** The files of the operator's page, served on the admin listener as the other page is on the public port. */
import type { IncomingHttpHeaders } from "node:http";
import { type WebPage, webFileReply } from "../edge/pages/web-page.ts";
import type { AdminReply } from "../operate/admin/listener.ts";
import type { AdminPage } from "../operate/admin/page-routes.ts";

type WebFile = WebPage["index"];

/** @param page null if it is not built */
export function adminPageOf(page: WebPage | null): AdminPage | null {
  if (page === null) return null;
  return {
    document: (headers) => replyOf(page.index, "document", headers),
    asset(name, headers) {
      const file = page.assets.get(name);
      return file === undefined ? null : replyOf(file, "asset", headers);
    },
  };
}

function replyOf(file: WebFile, kept: "document" | "asset", headers: IncomingHttpHeaders): AdminReply {
  const reply = webFileReply(file, kept, {
    ifNoneMatch: headers["if-none-match"] ?? "",
    acceptEncoding: String(headers["accept-encoding"] ?? ""),
  });
  // Programs get something else at the same path.
  const vary = ["Vary", "Accept, Accept-Encoding"] as const;
  return {
    status: reply.status,
    contentType: reply.contentType ?? file.contentType,
    body: reply.body,
    headers: [...(reply.headers ?? []), vary],
  };
}
