/**
 * HTTP below fetch: a connection for raw bytes, and a client that sets its own Host header (D4). It waits for a
 * response or for the end of the connection, never for time.
 */
import { type Agent, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { checkAnswer } from "./answer-check.ts";
import { type Answer, Client } from "./client.ts";

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export class RawConnection {
  readonly #socket: Socket;
  readonly closed: Promise<void>;
  #received = Buffer.alloc(0);
  #isClosed = false;
  #waiter: (() => void) | null = null;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#socket = connect(Number(port), hostname);
    this.#socket.setNoDelay(true);
    this.closed = new Promise((resolve) => {
      this.#socket.on("close", () => {
        this.#isClosed = true;
        this.#waiter?.();
        resolve();
      });
    });
    this.#socket.on("error", () => undefined);
    this.#socket.on("data", (bytes: Buffer) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#waiter?.();
    });
  }

  /** Resolves when the kernel has accepted the bytes. */
  write(bytes: string | Buffer): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.write(bytes, () => resolve());
    });
  }

  /** Half-closes: this side sends no more bytes. */
  finish(): void {
    this.#socket.end();
  }

  /** Closes the connection at once. */
  destroy(): void {
    this.#socket.destroy();
  }

  /** Bytes that arrived and are not part of a returned response. */
  get rest(): string {
    return this.#received.toString("latin1");
  }

  /** The next whole response; null if the connection ended before it was whole. @param hasBody false after HEAD */
  async answer(hasBody = true): Promise<RawAnswer | null> {
    for (;;) {
      const found = this.#take(hasBody);
      if (found !== null) return found;
      if (this.#isClosed) return null;
      await new Promise<void>((resolve) => {
        this.#waiter = resolve;
      });
    }
  }

  #take(hasBody: boolean): RawAnswer | null {
    const end = this.#received.indexOf("\r\n\r\n");
    if (end < 0) return null;
    const [statusLine = "", ...lines] = this.#received.subarray(0, end).toString("latin1").split("\r\n");
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(":");
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
    }
    const length = hasBody ? Number(headers["content-length"] ?? 0) : 0;
    const bodyEnd = end + 4 + length;
    if (this.#received.length < bodyEnd) return null;
    const text = this.#received.subarray(end + 4, bodyEnd).toString("utf8");
    this.#received = this.#received.subarray(bodyEnd);
    return { status: Number(statusLine.split(" ")[1]), headers, text };
  }
}

/** One request on a connection of its own. */
export async function exchange(url: string, bytes: string | Buffer, hasBody = true): Promise<RawAnswer | null> {
  const connection = new RawConnection(url);
  await connection.write(bytes);
  const answer = await connection.answer(hasBody);
  connection.destroy();
  return answer;
}

/** A client that sets its Host header (D4), which fetch does not allow. */
export class HostClient extends Client {
  readonly host: string;
  readonly #agent: Agent | false | undefined;

  /** @param agent false: each request has a connection of its own */
  constructor(client: Client, host: string, agent?: Agent | false) {
    super(client.url, client.account);
    this.host = host;
    this.#agent = agent;
  }

  override anonymous(): HostClient {
    return new HostClient(super.anonymous(), this.host);
  }

  override send(
    method: string,
    path: string,
    body: string | Buffer | null,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const bytes = Buffer.from(body ?? "");
    const all = {
      Host: this.host,
      // Node sends the body of a DELETE only with an explicit length.
      "Content-Length": String(bytes.length),
      ...(this.account === null ? {} : { Authorization: this.authorization }),
      ...(body === null ? {} : { "Content-Type": "application/x-www-form-urlencoded" }),
      ...headers,
    };
    return new Promise((resolve, reject) => {
      const options = { method, headers: all, agent: this.#agent };
      const sent = request(`${this.url}/api/v1${path}`, options, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          try {
            resolve(this.#answer(method, path, response, text));
          } catch (error) {
            reject(error);
          }
        });
      });
      sent.on("error", reject);
      sent.end(bytes);
    });
  }

  #answer(method: string, path: string, response: IncomingMessage, text: string): Answer {
    const { statusCode: status = 0 } = response;
    const headers = new Headers(response.headers as Record<string, string>);
    const body = text === "" ? null : JSON.parse(text);
    checkAnswer(method, path, { status, body, header: (name) => headers.get(name) });
    return { status, body, headers };
  }
}
