/**
 * `POST /admin/<operation>` with JSON: the answer is the result, or an error with its kind. A client that accepts
 * `application/x-ndjson` gets lines of progress first. `GET /admin` describes the operations to programs.
 *
 * Runs one operation with parameters that come from outside.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Compile } from "typebox/compile";
import { limits } from "../../../schemas/limits.ts";
import { programVersion } from "../../../schemas/server.ts";
import { failureCodes, failureOf } from "./failures.ts";
import { type AdminRoute, json, send } from "./listener.ts";
import { AdminFailure, type AdminOperation, type Progress } from "./operation.ts";
import type { AdminPorts } from "./ports.ts";

type Check = ReturnType<typeof Compile>;

const checks = new WeakMap<AdminOperation, Check>();

/** @throws AdminFailure, or whatever failureOf() knows; anything else is a bug */
export async function execute(
  operation: AdminOperation,
  params: unknown,
  ports: AdminPorts,
  progress: Progress,
): Promise<object> {
  const known = checks.get(operation);
  const check = known ?? Compile(operation.params);
  if (known === undefined) checks.set(operation, check);
  if (check.Check(params)) return operation.run(params as Parameters<AdminOperation["run"]>[0], ports, progress);
  throw new AdminFailure("usage", `the parameters of ${operation.name} are not valid: ${faultOf(check, params)}`);
}

function faultOf(check: Check, params: unknown): string {
  const [fault] = check.Errors(params);
  if (fault === undefined) return "unknown fault";
  const { instancePath, message } = fault as { readonly instancePath: string; readonly message: string };
  return `${instancePath === "" ? "the body" : instancePath.slice(1)} ${message}`;
}

const { admin_body_bytes_max: bodyBytesMax, admin_operations_concurrent_max: concurrentMax } = limits;

export const versionHeader = "colloquy-version";
export const linesType = "application/x-ndjson";

export interface OperationRoutesOptions {
  readonly operations: readonly AdminOperation[];
  /** The operations that the operator's page may call, too. */
  readonly forPage: ReadonlySet<AdminOperation>;
  /** @throws AdminFailure while the server starts or stops */
  ports(): AdminPorts;
  reportBug(error: unknown): void;
}

export function operationRoutes({ operations, forPage, ports, reportBug }: OperationRoutesOptions): AdminRoute[] {
  let running = 0;
  const serve = async (operation: AdminOperation, request: IncomingMessage, response: ServerResponse) => {
    const wantsLines = request.headers.accept?.includes(linesType) === true;
    const reply = wantsLines ? new LinesReply(response) : new DocumentReply(response);
    try {
      requireSameVersion(request);
      if (running >= concurrentMax) throw new AdminFailure("busy", `${running} operations are running: try again`);
      running++;
      try {
        reply.succeed(await execute(operation, await readJson(request, bodyBytesMax), ports(), reply.progress));
      } finally {
        running--;
      }
    } catch (error) {
      const failure = failureOf(error);
      if (failure === null) reportBug(error);
      reply.fail(failure ?? new AdminFailure("internal", "internal error: see the log of the server"));
    }
  };
  return operations.map(
    (operation): AdminRoute => ({
      method: "POST",
      path: `/admin/${operation.name}`,
      audience: forPage.has(operation) ? "page" : "programs",
      serve: (request, response) => serve(operation, request, response),
    }),
  );
}

/** The answer of `GET /admin` to programs. */
export function describeOperations(operations: readonly AdminOperation[]): object {
  const described = operations.map(({ name, summary, params }) => ({ name, summary, params }));
  return { version: programVersion, operations: described };
}

/** A command line of another version may mean something else by a name. Programs that send no version are not checked. */
function requireSameVersion({ headers }: IncomingMessage): void {
  const theirs = headers[versionHeader];
  if (theirs === undefined || theirs === programVersion) return;
  throw new AdminFailure(
    "unusable",
    `the server runs Colloquy ${programVersion} and this command line is of ${String(theirs)}: use the same version`,
  );
}

/** @throws AdminFailure */
export async function readJson(request: IncomingMessage, bytesMax: number): Promise<unknown> {
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") throw new AdminFailure("usage", "send a body of Content-Type: application/json");
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new AdminFailure("usage", `the body is larger than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw new AdminFailure("usage", "the body is not JSON");
  }
}

interface OperationReply {
  readonly progress: Progress;
  succeed(result: object): void;
  fail(failure: AdminFailure): void;
}

function errorOf({ kind, message }: AdminFailure): object {
  return { error: { kind, message } };
}

class DocumentReply implements OperationReply {
  readonly #response: ServerResponse;
  readonly progress = () => undefined;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  succeed(result: object): void {
    send(this.#response, json(200, { result }));
  }

  fail(failure: AdminFailure): void {
    // The unread rest of the body must not be parsed as another request.
    this.#response.shouldKeepAlive = false;
    send(this.#response, json(failureCodes[failure.kind].status, errorOf(failure)));
  }
}

/** One line of JSON for each step, and the outcome in the last one. */
class LinesReply implements OperationReply {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  readonly progress = (done: number, total: number | null) => {
    if (this.#response.writableLength < limits.admin_unread_bytes_max) this.#write({ progress: { done, total } });
  };

  succeed(result: object): void {
    this.#write({ result });
    this.#response.end();
  }

  fail(failure: AdminFailure): void {
    if (!this.#response.headersSent) this.#head(failureCodes[failure.kind].status);
    this.#response.shouldKeepAlive = false;
    this.#write(errorOf(failure));
    this.#response.end();
  }

  #head(status: number): void {
    this.#response.writeHead(status, {
      "Content-Type": linesType,
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
    });
  }

  #write(line: object): void {
    if (!this.#response.headersSent) this.#head(200);
    this.#response.write(`${JSON.stringify(line)}\n`);
  }
}
