/** HTTP/1.1 connections to other nodes, kept alive, and the pending requests on them. */
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { limits } from "../../../schemas/limits.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { ClusterRoutes, NodeDestination } from "./directions.ts";
import type { ForwardedHead } from "./forwarded-head.ts";
import { type ForwardedClient, nodeHeader, nodeHeaderOf } from "./node-header.ts";

export interface Upstream {
  readonly request: ClientRequest;
  readonly answer: Promise<UpstreamAnswer>;
  /** The answer was passed on, or no client wants it: the connection is closed if it is not at its end. */
  release(): void;
}

export type UpstreamAnswer =
  | { readonly kind: "answered"; readonly message: IncomingMessage }
  /** The node has not seen the request. */
  | { readonly kind: "unseen" }
  /** It may have been executed. */
  | { readonly kind: "lost" };

const agentOptions = {
  keepAlive: true,
  maxFreeSockets: limits.forward_connections_idle_max,
  // Closes an idle connection before the other side would, which might happen while a request is in transit.
  timeout: limits.forward_idle_ms_max,
} as const;

export class Upstreams {
  readonly #directions: ClusterRoutes;
  readonly #clock: Clock;
  readonly #plain = new HttpAgent(agentOptions);
  readonly #secure = new HttpsAgent(agentOptions);
  /** Ends the pending requests to a process. */
  readonly #underWay = new Map<() => void, string>();
  #cancelCheck: (() => void) | null = null;
  #checkDueAt = 0;

  constructor(directions: ClusterRoutes, clock: Clock) {
    this.#directions = directions;
    this.#clock = clock;
  }

  get count(): number {
    return this.#underWay.size;
  }

  /** @param lost called if the process is gone. @returns ends the watch */
  watch(instance: string, lost: () => void): () => void {
    this.#underWay.set(lost, instance);
    if (this.#cancelCheck === null) this.#checkLater();
    return () => void this.#underWay.delete(lost);
  }

  #checkLater(): void {
    this.#checkDueAt = this.#clock.monotonic() + limits.cluster_lease_renewal_ms;
    this.#cancelCheck = this.#clock.after(limits.cluster_lease_renewal_ms, () => this.#check());
  }

  /** A process that hangs closes no connection. */
  #check(): void {
    this.#cancelCheck = null;
    // This process stood still itself: what the others sent meanwhile has not been read yet.
    if (this.#clock.monotonic() - this.#checkDueAt > limits.cluster_lease_renewal_ms) {
      this.#checkLater();
      return;
    }
    const gone = new Map<string, boolean>();
    for (const [lost, instance] of [...this.#underWay]) {
      const isGone = gone.get(instance) ?? (instance !== "here" && this.#directions.isGone(instance));
      gone.set(instance, isGone);
      if (isGone) lost();
    }
    if (this.#underWay.size > 0) this.#checkLater();
  }

  /** The headers of a request to a node. */
  headersOf({ headers }: ForwardedHead, client: ForwardedClient): string[] {
    return [...headers, nodeHeader, nodeHeaderOf(this.#directions.key, client)];
  }

  /** Begins a request; the caller writes its body. */
  open(destination: NodeDestination, head: ForwardedHead, client: ForwardedClient): Upstream {
    const url = new URL(destination.address);
    const isSecure = url.protocol === "https:";
    const headers = this.headersOf(head, client);
    if (head.hasBody && head.contentLength !== null) headers.push("content-length", String(head.contentLength));
    else if (head.hasBody) headers.push("transfer-encoding", "chunked");
    else if (!bodiless.has(head.method)) headers.push("content-length", "0");
    const options = {
      host: url.hostname.replace(/^\[|\]$/g, ""),
      port: url.port || (isSecure ? 443 : 80),
      method: head.method,
      path: head.path,
      headers: headers as string[] & Record<string, string>,
      setHost: false,
      maxHeaderSize: limits.forward_head_bytes_max,
    };
    const request = isSecure
      ? httpsRequest({ ...options, agent: this.#secure })
      : httpRequest({ ...options, agent: this.#plain });
    const endWatch = this.watch(destination.instance, () => request.destroy());
    return { request, answer: this.#answerOf(request, endWatch), release: () => release(request) };
  }

  #answerOf(request: ClientRequest, endWatch: () => void): Promise<UpstreamAnswer> {
    let isSent = false;
    const cancel = this.#clock.after(limits.forward_connect_ms_max, () => {
      if (!isSent) request.destroy();
    });
    request.once("socket", (socket) => {
      const connected = () => {
        isSent = true;
      };
      if (socket.connecting) socket.once("connect", connected);
      else connected();
    });
    request.once("close", () => {
      cancel();
      endWatch();
    });
    return new Promise((resolve) => {
      request.once("response", (message) => resolve({ kind: "answered", message }));
      request.on("error", () => resolve({ kind: isSent ? "lost" : "unseen" }));
      request.once("close", () => resolve({ kind: isSent ? "lost" : "unseen" }));
    });
  }

  close(): void {
    this.#cancelCheck?.();
    this.#plain.destroy();
    this.#secure.destroy();
  }
}

/** A request whose answer was read to its end has given its connection back, and must not destroy it. */
function release(request: ClientRequest): void {
  const { res } = request as { res?: IncomingMessage };
  if (res?.complete === true && request.writableFinished) return;
  request.destroy();
}

/** Methods of requests that need no length without a body. */
const bodiless: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "DELETE"]);
