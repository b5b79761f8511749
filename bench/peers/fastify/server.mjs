/**
 * Peer "fastify": a typical chat server on Fastify, ws and PostgreSQL. `POST /channels/:channelId/messages` checks key
 * and membership, stores the message, responds after the commit, then pushes to the channel's sockets at `/events`.
 * `GET` on the same path returns the messages.
 */
import Fastify from "fastify";
import pg from "pg";
import { WebSocketServer } from "ws";
import { openDatabase } from "../shared/database.mjs";
import { BACKPRESSURE_BYTES_MAX, bearerOf, HOST, serve } from "../shared/program.mjs";

const CONTENT_LENGTH_MAX = 10_000;
const TOPIC_LENGTH_MAX = 60;
const FRAME_BYTES_MAX = 16_384;

const params = { type: "object", properties: { channelId: { type: "integer" } } };
const postSchema = {
  params,
  body: {
    type: "object",
    required: ["topic", "content"],
    properties: {
      topic: { type: "string", minLength: 1, maxLength: TOPIC_LENGTH_MAX },
      content: { type: "string", minLength: 1, maxLength: CONTENT_LENGTH_MAX },
    },
  },
  response: { 200: { type: "object", properties: { id: { type: "integer" } } } },
};
const pageSchema = { params, querystring: { type: "object", properties: { limit: { type: "integer", default: 50 } } } };

const database = openDatabase(pg);
const app = Fastify({ forceCloseConnections: true });
const sockets = new WebSocketServer({ noServer: true, maxPayload: FRAME_BYTES_MAX });
/** The listening sockets, by channel. */
const listeners = new Map();

app.post("/channels/:channelId/messages", { schema: postSchema }, async (request, reply) => {
  const key = bearerOf(request.headers.authorization);
  const { topic, content } = request.body;
  const posted = await database.post(key, request.params.channelId, topic, content);
  if (posted.status !== 200) return reply.code(posted.status).send({});
  push(posted.message);
  return { id: posted.message.id };
});

app.get("/channels/:channelId/messages", { schema: pageSchema }, async (request) => {
  const key = bearerOf(request.headers.authorization);
  return { messages: await database.newest(key, request.params.channelId, request.query.limit) };
});

/** Encodes the event once for all sockets. A socket that does not read is closed. */
function push(pushed) {
  const frame = Buffer.from(JSON.stringify({ type: "event", event: { type: "message", message: pushed } }));
  for (const socket of listeners.get(pushed.channelId) ?? []) {
    if (socket.bufferedAmount > BACKPRESSURE_BYTES_MAX) socket.terminate();
    else socket.send(frame, { binary: false });
  }
}

app.server.on("upgrade", async (request, stream, head) => {
  const channels = await database.channelsOf(bearerOf(request.headers.authorization)).catch(() => null);
  if (channels === null) return stream.end("HTTP/1.1 401 Unauthorized\r\n\r\n");
  sockets.handleUpgrade(request, stream, head, (socket) => {
    socket.on("error", () => socket.terminate());
    socket.on("close", () => {
      for (const channelId of channels) listeners.get(channelId)?.delete(socket);
    });
    socket.on("message", (data) => subscribe(socket, channels, data));
  });
});

/** `{"type": "subscribe", "ref", "channelId"}`: from then on the member receives the channel's messages. */
function subscribe(socket, channels, data) {
  let frame = null;
  try {
    frame = JSON.parse(data.toString("utf8"));
  } catch {
    return socket.terminate();
  }
  const { ref, channelId } = frame ?? {};
  if (!channels.includes(channelId)) return socket.send(JSON.stringify({ type: "reply", ref, result: "error" }));
  const those = listeners.get(channelId) ?? new Set();
  listeners.set(channelId, those.add(socket));
  return socket.send(JSON.stringify({ type: "reply", ref, result: "success" }));
}

await serve(
  database,
  async () => {
    await app.listen({ host: HOST, port: 0 });
    return app.server.address().port;
  },
  async () => {
    for (const socket of sockets.clients) socket.terminate();
    await app.close();
  },
);
