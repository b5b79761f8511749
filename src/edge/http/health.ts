/**
 * GET /health, outside the API and without authentication (same path and answer as Zulip): for load balancers and
 * monitors. It answers 503 while writes are rejected (M5), so that operators notice; while the server stops, every
 * request gets 503.
 */
import { refuse } from "../../../schemas/errors.ts";
import { bodyOf, ok } from "../../runtime/results.ts";
import { errorPage, type PageRequest, type PageRoute } from "./pages.ts";

function serveHealth({ realm, rest }: PageRequest) {
  if (rest !== "") return errorPage(refuse.notFound());
  if (!realm.files.acceptsWrites) return errorPage(refuse.storeRefusesWrites());
  const headers = [["Cache-Control", "no-store"]] as const;
  return { status: 200, body: JSON.stringify(bodyOf(ok({}))), headers };
}

export const healthPages: readonly PageRoute[] = [{ prefix: "/health", serve: serveHealth, servesDeactivated: true }];
