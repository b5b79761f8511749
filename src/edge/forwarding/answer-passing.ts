/**
 * Passes the answer of another node on to the client. A small one is read as a whole first; a larger one is read as fast
 * as the client reads.
 */

import type { IncomingMessage } from "node:http";
import { limits } from "../../../schemas/limits.ts";
import type { Clock } from "../../runtime/clock.ts";
import { AnswerSender, FileSender, offer } from "../http/answer-sender.ts";
import { AnswerBytes, type FileSlice, hasNoBody } from "../http/reply.ts";
import { statusLine } from "../http/status-line.ts";
import type { TransportResponse } from "../transport/transport.ts";
import type { KeptBytes } from "./kept-bytes.ts";

export interface PassingOptions {
  /** The bytes of answers that are kept, for all requests. */
  readonly answers: KeptBytes;
  readonly response: TransportResponse;
  readonly method: string;
  readonly clock: Clock;
  /** Whether the client's connection cannot be used again. */
  readonly closesConnection: () => boolean;
  /** The client is gone. */
  readonly isOver: () => boolean;
  /** Whether a node that stops, or gives the organization away, has done nothing of the request. */
  readonly mayAskAgain: boolean;
  /** Sets what ends the passing when the client is gone. */
  readonly onAbort: (stop: () => void) => void;
}

export type Passed =
  | "passed"
  /** The other node went away before the client got anything. */
  | "lost"
  /** It gives the organization away. */
  | "unseen";

export function passAnswer(message: IncomingMessage, options: PassingOptions): Promise<Passed> {
  const length = Number(message.headers["content-length"] ?? Number.NaN);
  if (options.method === "HEAD" || hasNoBody(message.statusCode ?? 0)) return passHead(message, options, length);
  // Nodes always say how long an answer is.
  if (!Number.isSafeInteger(length)) {
    message.destroy();
    return Promise.resolve("lost");
  }
  const kept = options.answers.open();
  if (length > limits.forward_answer_bytes_max || !kept.set(length)) return passLarge(message, options, length);
  return passSmall(message, options, length).finally(() => kept.release());
}

async function passHead(message: IncomingMessage, options: PassingOptions, length: number): Promise<"passed"> {
  const { response } = options;
  message.resume();
  response.cork(() => {
    writeHead(message, response);
    if (Number.isSafeInteger(length)) response.writeHeader("Content-Length", String(length));
    response.endWithoutBody();
  });
  return "passed";
}

async function passSmall(
  message: IncomingMessage,
  { response, clock, closesConnection, isOver, onAbort, mayAskAgain }: PassingOptions,
  length: number,
): Promise<Passed> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of message) chunks.push(chunk as Buffer);
  } catch {
    return "lost";
  }
  const body = Buffer.concat(chunks);
  if (body.length !== length) return "lost";
  if (mayAskAgain && message.statusCode === 503 && body.includes('"SERVER_SHUTTING_DOWN"')) return "unseen";
  if (isOver()) return "passed";
  const isLast = closesConnection();
  if (isLast || length === 0) {
    response.cork(() => {
      writeHead(message, response);
      response.end(body, isLast);
    });
    return "passed";
  }
  const bytes = new AnswerBytes(body);
  let [isTaken, isDone] = [false, false];
  response.cork(() => {
    writeHead(message, response);
    ({ isTaken, isDone } = offer(response, bytes, 0));
  });
  if (isDone) return "passed";
  return new Promise((resolve) => {
    const sender = new AnswerSender({ response, bytes, isTaken, clock, onEnd: () => resolve("passed") });
    onAbort(() => sender.end());
  });
}

async function passLarge(
  message: IncomingMessage,
  { response, clock, onAbort }: PassingOptions,
  length: number,
): Promise<"passed"> {
  const sender = new FileSender(response, sliceOf(message, length), clock);
  onAbort(() => sender.abort());
  response.cork(() => writeHead(message, response));
  // An answer that breaks off closes the client's connection.
  await sender.send().catch(() => undefined);
  return "passed";
}

/** Reads on only when the client has taken what was read before. */
function sliceOf(message: IncomingMessage, length: number): FileSlice {
  const chunks = message[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  return {
    start: 0,
    length,
    async read() {
      const { done, value } = await chunks.next();
      return done === true ? Buffer.alloc(0) : value;
    },
    async close() {
      message.destroy();
    },
  };
}

/** Headers that concern one connection, or that the transport writes. */
const ofConnection: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "date",
  "keep-alive",
  "transfer-encoding",
  "uwebsockets",
]);

function writeHead({ statusCode = 500, rawHeaders }: IncomingMessage, response: TransportResponse): void {
  if (statusCode !== 200) response.writeStatus(statusLine(statusCode));
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = "", value = ""] = rawHeaders.slice(index, index + 2);
    if (!ofConnection.has(name.toLowerCase())) response.writeHeader(name, value);
  }
}
