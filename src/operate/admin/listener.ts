/**
 * The operator's own listener: metrics, health, operations and a page, never on the public port. By default it is a Unix
 * socket in the data folder, which only the server's account can open. access.ts decides who may call what.
 */
import { lstatSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join, relative, resolve } from "node:path";
import type { Access, Audience } from "./access.ts";

export type AdminAddress =
  | { readonly kind: "none" }
  /** null: DATA_DIR/admin.sock */
  | { readonly kind: "socket"; readonly path: string | null }
  | { readonly kind: "tcp"; readonly host: string; readonly port: number };

export interface AdminReply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Buffer;
  readonly headers?: readonly (readonly [name: string, value: string])[];
}

export interface AdminRoute {
  readonly method: "GET" | "POST";
  /** If it ends with a slash, a name follows. */
  readonly path: string;
  readonly audience: Audience;
  /** Answers by itself, and never rejects. */
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** The kernel's bound for the path of a Unix socket, without the final zero. */
const socketPathBytesMax = 107;

const connectionsMax = 64;
const requestMsMax = 10_000;

export class AdminAddressUnusable extends Error {
  override readonly name = "AdminAddressUnusable";
}

export function send(response: ServerResponse, { status, contentType, body, headers = [] }: AdminReply): void {
  response.writeHead(status, {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    ...Object.fromEntries(headers),
    "Content-Type": contentType,
    "Content-Length": Buffer.byteLength(body),
  });
  response.end(body);
}

export function json(status: number, body: object, headers: AdminReply["headers"] = []): AdminReply {
  return { status, contentType: "application/json", body: `${JSON.stringify(body)}\n`, headers };
}

export function failure(kind: string, message: string): object {
  return { error: { kind, message } };
}

export class AdminListener {
  readonly #server: Server;
  readonly #routes: readonly AdminRoute[];
  readonly #access: Access;

  constructor(routes: readonly AdminRoute[], access: Access, reportBug: (error: unknown) => void) {
    this.#routes = routes;
    this.#access = access;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        reportBug(error);
        if (response.headersSent) response.destroy();
        else send(response, json(500, failure("internal", "internal error: see the log")));
      });
    });
    this.#server.maxConnections = connectionsMax;
    this.#server.headersTimeout = requestMsMax;
    this.#server.requestTimeout = requestMsMax;
  }

  /**
   * @param makeKey makes the key for operations over TCP, and stores it where the command line finds it
   * @returns where it listens; null if it is switched off
   * @throws AdminAddressUnusable with a message of one line
   */
  async listen(address: AdminAddress, dataDir: string, makeKey: () => string): Promise<string | null> {
    if (address.kind === "none") return null;
    if (address.kind === "tcp") {
      this.#access.requireKey(makeKey());
      await this.#listen({ host: address.host, port: address.port });
      const { port } = this.#server.address() as AddressInfo;
      return `${address.host.includes(":") ? `[${address.host}]` : address.host}:${port}`;
    }
    const path = address.path === null ? adminSocket(dataDir) : resolve(address.path);
    if (await isLeftOver(path)) rmSync(path);
    const former = process.umask(0o177);
    try {
      // Binding is synchronous, and creates the socket with the mode that the mask leaves.
      const listening = this.#listen({ path: shortPath(path) });
      process.umask(former);
      await listening;
    } finally {
      process.umask(former);
    }
    return path;
  }

  #listen(where: { readonly host: string; readonly port: number } | { readonly path: string }): Promise<void> {
    return new Promise((done, fail) => {
      const failed = (error: NodeJS.ErrnoException) =>
        fail(new AdminAddressUnusable(`${JSON.stringify(where)} cannot be used for administration: ${error.code}`));
      this.#server.once("error", failed);
      this.#server.listen(where, () => {
        this.#server.off("error", failed);
        done();
      });
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = ""] = (request.url ?? "").split("?");
    const matching = this.#routes.filter((route) => route.path === (route.path.endsWith("/") ? folderOf(path) : path));
    const method = request.method === "HEAD" ? "GET" : request.method;
    const route = matching.find((candidate) => candidate.method === method);
    const refusal = this.#access.refusal(route?.audience ?? "everybody", request);
    if (refusal !== null) send(response, json(refusal.status, failure("forbidden", refusal.message)));
    else if (matching.length === 0) send(response, json(404, failure("usage", "there is no such operation")));
    else if (route === undefined) send(response, json(405, failure("usage", "method not allowed")));
    else await route.serve(request, response);
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((done) => this.#server.close(() => done()));
    this.#server.closeAllConnections();
    await closed;
  }
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}

/** Whether a process that was killed left its socket here. A file of another kind is nothing of ours. */
function isLeftOver(path: string): Promise<boolean> {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() !== true) return Promise.resolve(false);
  return new Promise((done) => {
    const socket = connect(shortPath(path));
    socket.once("connect", () => {
      socket.destroy();
      done(false);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => done(error.code === "ECONNREFUSED"));
  });
}

export function adminSocket(dataDir: string): string {
  return join(dataDir, "admin.sock");
}

/**
 * The path in a form that the kernel accepts.
 * @throws AdminAddressUnusable if there is none
 */
export function shortPath(path: string): string {
  const forms = [path, relative(process.cwd(), path)];
  const form = forms.find((one) => Buffer.byteLength(one) <= socketPathBytesMax);
  if (form !== undefined) return form;
  throw new AdminAddressUnusable(
    `the path of the admin socket is longer than ${socketPathBytesMax} bytes: set ADMIN_LISTEN to a shorter one (${path})`,
  );
}
