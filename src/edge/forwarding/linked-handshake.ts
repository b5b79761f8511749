/** A handshake that arrives over a link, in the form in which transports show one. */
import type { HandshakeResponse, TransportRequest } from "../transport/transport.ts";
import type { OpenRequest, SocketRefusal } from "./link-messages.ts";

export class LinkedRequest implements TransportRequest {
  readonly #request: OpenRequest;

  constructor(request: OpenRequest) {
    this.#request = request;
  }

  getMethod(): string {
    return "GET";
  }

  getUrl(): string {
    return this.#request.path.split("?", 1)[0] ?? "";
  }

  getQuery(): string {
    return this.#request.path.slice(this.getUrl().length + 1);
  }

  getHeader(name: string): string {
    const { headers } = this.#request;
    for (let index = 0; index < headers.length; index += 2)
      if (headers[index] === name) return headers[index + 1] ?? "";
    return "";
  }

  forEach(visit: (name: string, value: string) => void): void {
    const { headers } = this.#request;
    for (let index = 0; index < headers.length; index += 2) visit(headers[index] ?? "", headers[index + 1] ?? "");
  }
}

export interface LinkedResponseOptions {
  readonly address: string;
  /** Passes a refusal to the edge, which answers the client. */
  readonly refuse: (refusal: SocketRefusal) => void;
}

/** Used instead of `accept`, or aborted. */
export class LinkedResponse implements HandshakeResponse {
  readonly #options: LinkedResponseOptions;
  #status = "200 OK";
  readonly #headers: string[] = [];
  #onAborted: () => void = () => undefined;

  constructor(options: LinkedResponseOptions) {
    this.#options = options;
  }

  onAborted(handler: () => void): void {
    const before = this.#onAborted;
    this.#onAborted = () => {
      before();
      handler();
    };
  }

  /** The client is gone. */
  abort(): void {
    this.#onAborted();
  }

  cork(work: () => void): void {
    work();
  }

  writeStatus(status: string): void {
    this.#status = status;
  }

  writeHeader(name: string, value: string): void {
    this.#headers.push(name, value);
  }

  end(body: string | Buffer): void {
    this.#options.refuse({ status: this.#status, headers: this.#headers, body: body.toString() });
  }

  /** The client asks again. */
  close(): void {
    this.#options.refuse({ status: "", headers: [], body: "" });
  }

  getRemoteAddressAsText(): ArrayBuffer {
    return new TextEncoder().encode(this.#options.address).buffer as ArrayBuffer;
  }
}
