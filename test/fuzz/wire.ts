/** Requests as bytes, and lanes that send one after the other over keep-alive connections. */
import { type RawAnswer, RawConnection } from "../support/http.ts";
import type { Input } from "./inputs.ts";

export interface Sender {
  /** The Authorization header; "" without credentials. */
  readonly authorization: string;
}

export function bytesOf(input: Input, { authorization }: Sender): Buffer {
  const body = input.body === null ? null : Buffer.from(input.body, "latin1");
  const headers: Record<string, string> = { Host: "localhost" };
  if (authorization !== "") headers["Authorization"] = authorization;
  Object.assign(headers, input.headers);
  if (body !== null && input.isChunked) headers["Transfer-Encoding"] = "chunked";
  else if (body !== null) headers["Content-Length"] = String(body.length);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${input.method} /api/v1${input.target} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1");
  if (body === null) return head;
  return Buffer.concat(input.isChunked ? [head, ...chunksOf(body)] : [head, body]);
}

function chunksOf(body: Buffer): Buffer[] {
  const size = Math.max(1, Math.ceil(body.length / 3));
  const chunks: Buffer[] = [];
  for (let start = 0; start < body.length; start += size) {
    const chunk = body.subarray(start, start + size);
    chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n"));
  }
  return [...chunks, Buffer.from("0\r\n\r\n")];
}

export class Lane {
  readonly #url: string;
  #connection: RawConnection | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  /** The response; null: the connection ended without one, although it was new. */
  async ask(bytes: Buffer, hasBody: boolean): Promise<RawAnswer | null> {
    const isKept = this.#connection !== null;
    this.#connection ??= new RawConnection(this.#url);
    await this.#connection.write(bytes);
    const answer = await this.#connection.answer(hasBody);
    if (answer !== null && answer.status !== 413) return answer;
    // The server has closed the connection, with its last response or before this request arrived.
    this.close();
    return answer === null && isKept ? this.ask(bytes, hasBody) : answer;
  }

  close(): void {
    this.#connection?.destroy();
    this.#connection = null;
  }
}
