/**
 * One request to a receiver (behaviour 10): a new connection, no redirects, a bounded response. The caller's signal
 * limits the time.
 */
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { limits } from "../../../schemas/limits.ts";
import { serverVersion } from "../../../schemas/server.ts";
import { failureOfStatus, type WebhookRequest } from "../../../schemas/webhooks.ts";
import { checkLiteral, lookUpAny, lookUpPublic } from "./addresses.ts";
import { Undeliverable } from "./undeliverable.ts";

/**
 * @returns the text of a successful response
 * @throws Undeliverable
 */
export async function post(request: WebhookRequest, mayBePrivate: boolean, signal: AbortSignal): Promise<string> {
  const url = new URL(request.url);
  if (!mayBePrivate) checkLiteral(url.hostname);
  const response = await send(url, request, mayBePrivate ? lookUpAny : lookUpPublic, signal);
  const status = response.statusCode ?? 0;
  if (status < 200 || status >= 300) {
    response.destroy();
    throw new Undeliverable(failureOfStatus(status), status);
  }
  return read(response, status);
}

function send(
  url: URL,
  { contentType, body }: WebhookRequest,
  lookup: typeof lookUpAny,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const bytes = Buffer.from(body);
  const headers = {
    "Content-Type": contentType,
    "Content-Length": bytes.length,
    // Receivers written for Zulip check this header.
    "User-Agent": `ZulipOutgoingWebhook/${serverVersion}`,
    Accept: "application/json",
    "Accept-Encoding": "identity",
  };
  return new Promise((resolve, reject) => {
    const open = url.protocol === "https:" ? requestHttps : requestHttp;
    const sent = open(url, { method: "POST", headers, lookup, signal, agent: false }, resolve);
    sent.on("error", reject);
    sent.end(bytes);
  });
}

async function read(response: IncomingMessage, status: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length;
    // Leaving the loop closes the connection.
    if (bytes > limits.webhook_answer_bytes_max) throw new Undeliverable("too-large", status);
    chunks.push(chunk as Buffer);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
