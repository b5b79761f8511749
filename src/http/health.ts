/**
 * GET /health, outside the API and without an account (public server: the same path and answer): for load balancers and monitors.
 * While changes are refused (M5) it answers 503, so that somebody looks; while the server stops, every request does.
 */
import { refuse } from "../../schemas/errors.ts";
import { bodyOf, ok } from "../runtime/entry.ts";
import { errorPage, type PageRequest, type PageRoute } from "./pages.ts";

function serveHealth({ realm, rest }: PageRequest) {
  if (rest !== "") return errorPage(refuse.notFound());
  if (!realm.files.acceptsWrites) return errorPage(refuse.storeRefusesWrites());
  const headers = [["Cache-Control", "no-store"]] as const;
  return { status: 200, body: JSON.stringify(bodyOf(ok({}))), headers };
}

export const healthPages: readonly PageRoute[] = [{ prefix: "/health", serve: serveHealth, servesDeactivated: true }];
