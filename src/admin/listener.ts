/**
 * The operator's own listener: metrics, health and operations, never on the public port. By default it is a Unix socket
 * in the data folder, which only the server's account can open. On TCP, operations need the key that is in the data
 * folder, and pages in a browser cannot use them.
 */
import { timingSafeEqual } from "node:crypto";
import { lstatSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join, relative, resolve } from "node:path";

export type AdminAddress =
  | { readonly kind: "none" }
  /** null: DATA_DIR/admin.sock */
  | { readonly kind: "socket"; readonly path: string | null }
  | { readonly kind: "tcp"; readonly host: string; readonly port: number };

export interface AdminReply {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

export interface AdminRoute {
  /** What is not GET changes something, or shows what only the operator may see. */
  readonly method: "GET" | "POST";
  readonly path: string;
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

export function send(response: ServerResponse, { status, contentType, body }: AdminReply): void {
  response.writeHead(status, {
    "Content-Type": contentType,
    "Content-Length": Buffer.byteLength(body),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  });
  response.end(body);
}

export function json(status: number, body: object): AdminReply {
  return { status, contentType: "application/json", body: `${JSON.stringify(body)}\n` };
}

function failure(kind: string, message: string): object {
  return { error: { kind, message } };
}

/** The file in the data folder with the key for operations over TCP. */
export const adminKeyName = "admin.key";

/** Whether a Host header names the address that was connected to, or this machine. */
function isOwnHost(header: string, localAddress: string): boolean {
  const host = header
    .toLowerCase()
    .replace(/:\d*$/, "")
    .replace(/^\[(.*)\]$/, "$1");
  return host === "localhost" || host === localAddress.replace(/^::ffff:/, "");
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

export class AdminListener {
  readonly #server: Server;
  readonly #routes: readonly AdminRoute[];
  /** What a caller on TCP must know; null on a Unix socket, whose mode decides. */
  #key: string | null = null;

  constructor(routes: readonly AdminRoute[], reportBug: (error: unknown) => void) {
    this.#routes = routes;
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
      this.#key = makeKey();
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
    const site = request.headers["sec-fetch-site"];
    if (site !== undefined && site !== "none" && site !== "same-origin") {
      send(response, json(403, failure("forbidden", "pages of other sites may not read this")));
      return;
    }
    const matching = this.#routes.filter((route) => route.path === path);
    const method = request.method === "HEAD" ? "GET" : request.method;
    const route = matching.find((candidate) => candidate.method === method);
    if (matching.length === 0) send(response, json(404, failure("usage", "there is no such operation")));
    else if (route === undefined) send(response, json(405, failure("usage", "method not allowed")));
    else if (route.method === "POST" && this.#refuse(request, response)) return;
    else await route.serve(request, response);
  }

  /**
   * A browser sends Origin with every POST, and a name that was rebound to this address is in Host. Neither comes from a
   * program of the operator.
   */
  #refuse({ headers, socket }: IncomingMessage, response: ServerResponse): boolean {
    if (headers.origin !== undefined || headers["sec-fetch-site"] !== undefined) {
      send(response, json(403, failure("forbidden", "operations are not for pages in a browser")));
      return true;
    }
    if (this.#key === null) return false;
    if (!isOwnHost(headers.host ?? "", socket.localAddress ?? "")) {
      send(response, json(403, failure("forbidden", "the Host header must be an address of this machine")));
      return true;
    }
    if (isSame(headers.authorization ?? "", `Bearer ${this.#key}`)) return false;
    send(
      response,
      json(403, failure("forbidden", `send the key in ${adminKeyName} of the data folder as Bearer token`)),
    );
    return true;
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((done) => this.#server.close(() => done()));
    this.#server.closeAllConnections();
    await closed;
  }
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
