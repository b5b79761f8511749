/**
 * Posts what other programs send by HTTP into a topic. It answers 200 when the message is on the server's disk, and a delivery that is
 * repeated under its id is posted once.
 *
 *   TOKEN=secret CHANNEL=general PORT=5003 node examples/bots/relay-bot.mjs [zuliprc]
 *   curl http://127.0.0.1:5003/ -H 'Authorization: Bearer secret' -H 'X-Delivery: 17' --json '{"topic":"builds","text":"Build 17 is **green**"}'
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { ApiError, connect } from "colloquy-client";

const { TOKEN, CHANNEL = "general", PORT = "5003" } = process.env;
if (!TOKEN) throw new Error("Set TOKEN to a secret that the senders know");
const [zuliprc = "zuliprc"] = process.argv.slice(2);
const bodyBytesMax = 64 * 1024;
const client = await connect(zuliprc, { webSocket: null, userAgent: "relay-bot" });

const digest = (text) => createHash("sha256").update(text).digest();

/** @returns the status of the answer */
async function relay(request) {
  if (request.method !== "POST") return 405;
  const authorization = request.headers.authorization ?? "";
  if (!timingSafeEqual(digest(authorization), digest(`Bearer ${TOKEN}`))) return 401;
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) return 413;
    chunks.push(chunk);
  }
  const { topic, text } = JSON.parse(Buffer.concat(chunks).toString("utf8")) ?? {};
  if (typeof topic !== "string" || typeof text !== "string") return 400;
  const delivery = request.headers["x-delivery"];
  const key = delivery === undefined ? {} : { idempotencyKey: digest(`${CHANNEL} ${delivery}`).toString("hex") };
  await client.call("POST /messages", { type: "channel", to: CHANNEL, topic, content: text }, key);
  return 200;
}

/** 503: no answer in time; the sender repeats the delivery. */
function statusOf(error) {
  if (error instanceof SyntaxError) return 400;
  return error instanceof ApiError ? 422 : 503;
}

const server = createServer(async (request, response) => {
  const status = await relay(request).catch(statusOf);
  response.writeHead(status, { Connection: "close" }).end();
});

server.listen(Number(PORT), "127.0.0.1", () => {
  process.stdout.write(`relay-bot is at http://127.0.0.1:${server.address().port}/\n`);
});
