/**
 * The operator's page (docs/web.md): its files, the login with the key, and what it shows. `GET /admin` is the page for
 * a browser, and the description of the operations for everything else.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { limits } from "../../../schemas/limits.ts";
import { type Access, adminKeyName, tokenHeader } from "./access.ts";
import { shownOnPage } from "./dead-letter-operations.ts";
import { failureCodes, failureOf } from "./failures.ts";
import { type AdminReply, type AdminRoute, failure, json, send } from "./listener.ts";
import { AdminFailure } from "./operation.ts";
import { readJson } from "./operation-routes.ts";
import type { PageSessions } from "./page-sessions.ts";
import type { AdminPorts } from "./ports.ts";

/** The files of the page; null: it is not built. */
export interface AdminPage {
  document(headers: IncomingMessage["headers"]): AdminReply;
  /** null: there is no file of this name. */
  asset(name: string, headers: IncomingMessage["headers"]): AdminReply | null;
}

/** The figures that the page shows. */
export interface LiveSource {
  /** @param after number of the first sample that the page does not have */
  answer(after: number): object;
  organizations(): Promise<object>;
}

export interface PageRoutesOptions {
  readonly page: AdminPage | null;
  readonly access: Access;
  readonly sessions: PageSessions;
  /** The answer of `GET /admin` to programs. */
  readonly description: object;
  /** @throws AdminFailure while the server starts or stops */
  live(): LiveSource;
  /** @throws AdminFailure while the server starts or stops */
  ports(): AdminPorts;
  /** A wrong key was given. */
  onFailedLogin(address: string): void;
  reportBug(error: unknown): void;
}

type Answer = (request: IncomingMessage) => AdminReply | Promise<AdminReply>;

const notBuilt: AdminReply = {
  status: 404,
  contentType: "text/plain; charset=utf-8",
  body: "The page is not built. Run `npm run build` in the server's folder, then start it again.\n",
};

export function pageRoutes(options: PageRoutesOptions): AdminRoute[] {
  const { page, sessions, description, live } = options;
  const route = (
    method: AdminRoute["method"],
    path: string,
    audience: AdminRoute["audience"],
    answer: Answer,
  ): AdminRoute => ({ method, path, audience, serve: guarded(answer, options.reportBug) });
  return [
    route("GET", "/admin", "document", ({ headers }) => {
      if (headers.accept?.includes("text/html") !== true) return json(200, description, [["Vary", "Accept"]]);
      return page?.document(headers) ?? notBuilt;
    }),
    route("GET", "/admin/assets/", "everybody", ({ url = "", headers }) => {
      const name = url.replace(/\?.*$/, "").slice("/admin/assets/".length);
      return page?.asset(name, headers) ?? json(404, failure("usage", "there is no such file"));
    }),
    route("POST", "/admin/log-in", "login", (request) => logIn(request, options)),
    route("POST", "/admin/log-out", "page", ({ headers }) =>
      json(200, { result: {} }, [["Set-Cookie", sessions.end(String(headers[tokenHeader]))]]),
    ),
    route("GET", "/admin/live", "page", (request) => {
      const after = Number(queryOf(request).get("after") ?? 0);
      if (!Number.isSafeInteger(after) || after < 0) throw new AdminFailure("usage", "after must be a whole number");
      return json(200, live().answer(after));
    }),
    route("GET", "/admin/live/organizations", "page", async () => json(200, await live().organizations())),
    route("GET", "/admin/live/dead-letters", "page", async (request) =>
      json(200, await shownOnPage(queryOf(request).get("realm") ?? "", options.ports())),
    ),
  ];
}

function queryOf({ url = "" }: IncomingMessage): URLSearchParams {
  return new URLSearchParams(url.includes("?") ? url.slice(url.indexOf("?")) : "");
}

/** Answers an expected failure with its message, and anything else without one. */
function guarded(answer: Answer, reportBug: (error: unknown) => void) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      send(response, await answer(request));
    } catch (error) {
      const known = failureOf(error);
      if (known === null) reportBug(error);
      const { kind, message } = known ?? new AdminFailure("internal", "internal error: see the log of the server");
      // The unread rest of the body must not be parsed as another request.
      response.shouldKeepAlive = false;
      send(response, json(failureCodes[kind].status, failure(kind, message)));
    }
  };
}

/** The key has 192 random bits, so wrong ones are not counted: a limit would only lock the operator out. */
async function logIn(request: IncomingMessage, options: PageRoutesOptions): Promise<AdminReply> {
  const body = await readJson(request, limits.admin_login_bytes_max);
  const key = typeof body === "object" && body !== null && "key" in body ? body.key : undefined;
  if (typeof key !== "string") throw new AdminFailure("usage", "send the key as a string");
  if (!options.access.isKey(key.trim())) {
    options.onFailedLogin(request.socket.remoteAddress ?? "");
    return json(401, failure("forbidden", `this is not the key in ${adminKeyName} of the data folder`));
  }
  const { cookie, token } = options.sessions.open();
  return json(200, { result: { token } }, [["Set-Cookie", cookie]]);
}
