/** Asks a running server to do an operation, through its admin listener. */
import { readFileSync } from "node:fs";
import { type IncomingMessage, type RequestOptions, request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { programVersion } from "../../schemas/server.ts";
import { adminKeyName } from "../operate/admin/access.ts";
import { oneLine } from "../operate/admin/failures.ts";
import { type AdminAddress, adminSocket, shortPath } from "../operate/admin/listener.ts";
import { AdminFailure, type AdminOperation, type FailureKind, type Progress } from "../operate/admin/operation.ts";
import { linesType, versionHeader } from "../operate/admin/operation-routes.ts";

interface Line {
  readonly progress?: { readonly done: number; readonly total: number | null };
  readonly result?: object;
  readonly error?: { readonly kind: FailureKind; readonly message: string };
}

export interface Asking {
  readonly address: AdminAddress;
  readonly dataDir: string;
  readonly operation: AdminOperation;
  readonly params: object;
  readonly progress: Progress;
}

/** No process listens there: no server runs, or a killed one left its socket. */
const nobody: ReadonlySet<string> = new Set(["ENOENT", "ECONNREFUSED"]);

/**
 * @returns null if no server is there
 * @throws AdminFailure
 */
export async function askServer(asking: Asking): Promise<object | null> {
  const { address, dataDir, operation, params, progress } = asking;
  if (address.kind === "none") return null;
  const place = placeOf(address, dataDir);
  let answer: IncomingMessage;
  try {
    answer = await post({ ...place, path: `/admin/${operation.name}` }, JSON.stringify(params));
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (nobody.has(code)) return null;
    if (code !== "EACCES" && code !== "EPERM") throw ended(operation);
    throw new AdminFailure(
      "forbidden",
      `${whereOf(address, dataDir)} is not for this account: use the server's account`,
    );
  }
  if (answer.statusCode === 404) {
    answer.resume();
    throw new AdminFailure(
      "unusable",
      `the server does not know ${operation.name}: it is of another version than this command line`,
    );
  }
  return outcomeOf(answer, operation, progress);
}

export function whereOf(address: AdminAddress, dataDir: string): string {
  if (address.kind === "none") return "ADMIN_LISTEN=none";
  return address.kind === "tcp" ? `${address.host}:${address.port}` : (address.path ?? adminSocket(dataDir));
}

function placeOf(address: Exclude<AdminAddress, { kind: "none" }>, dataDir: string): RequestOptions {
  if (address.kind === "socket") return { socketPath: shortPath(address.path ?? adminSocket(dataDir)) };
  return { host: address.host, port: address.port, headers: { Authorization: `Bearer ${keyIn(dataDir)}` } };
}

function keyIn(dataDir: string): string {
  try {
    return readFileSync(join(dataDir, adminKeyName), "utf8").trim();
  } catch {
    // A server that is not there has none; one that is there says what it needs.
    return "";
  }
}

function post(options: RequestOptions, body: string): Promise<IncomingMessage> {
  const headers = {
    ...options.headers,
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
    Accept: linesType,
    [versionHeader]: programVersion,
  };
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, method: "POST", headers, agent: false }, resolve);
    sent.on("error", reject);
    sent.end(body);
  });
}

/** The last line is the outcome. Without one the server was killed meanwhile. */
async function outcomeOf(answer: IncomingMessage, operation: AdminOperation, progress: Progress): Promise<object> {
  const broken = new Promise<never>((_, reject) => answer.once("error", () => reject(ended(operation))));
  const read = async () => {
    for await (const text of createInterface({ input: answer, crlfDelay: Number.POSITIVE_INFINITY })) {
      const line = parsed(text);
      if (line.progress !== undefined) progress(line.progress.done, line.progress.total);
      if (line.result !== undefined) return line.result;
      if (line.error !== undefined) throw new AdminFailure(line.error.kind, oneLine(line.error.message));
    }
    throw ended(operation);
  };
  return Promise.race([read(), broken]);
}

function parsed(text: string): Line {
  try {
    return JSON.parse(text) as Line;
  } catch {
    throw new AdminFailure("unusable", "what listens there does not answer as Colloquy: check ADMIN_LISTEN");
  }
}

function ended({ name }: AdminOperation): AdminFailure {
  return new AdminFailure(
    "busy",
    `the server ended before it answered: look whether ${name} was done, and repeat it if not`,
  );
}
