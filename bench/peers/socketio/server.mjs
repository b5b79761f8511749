/**
 * Peer "socketio": a typical chat server on Socket.IO and PostgreSQL. A client connects with its key and joins the
 * rooms of its channels. Its event `post` checks key and membership, stores the message and is acknowledged after the
 * commit; `message` is then sent to the room. `GET /channels/<id>/messages` returns the messages.
 */
import { createServer } from "node:http";
import pg from "pg";
import { Server } from "socket.io";
import { openDatabase } from "../shared/database.mjs";
import { bearerOf, HOST, serve } from "../shared/program.mjs";

const CONTENT_LENGTH_MAX = 10_000;
const TOPIC_LENGTH_MAX = 60;
const FRAME_BYTES_MAX = 16_384;
const PAGE_PATH = /^\/channels\/(\d+)\/messages/;

const database = openDatabase(pg);
const http = createServer(answer);
const io = new Server(http, { transports: ["websocket"], maxHttpBufferSize: FRAME_BYTES_MAX, serveClient: false });

io.use(async (socket, next) => {
  const { key } = socket.handshake.auth;
  const channels = typeof key === "string" ? await database.channelsOf(key).catch(() => null) : null;
  if (channels === null) return next(new Error("who are you?"));
  socket.data.key = key;
  // Clients that only post set `listen` to "false".
  if (socket.handshake.query.listen !== "false") await socket.join(channels.map(roomOf));
  return next();
});

io.on("connection", (socket) => {
  socket.on("post", async (given, acknowledge) => {
    if (typeof acknowledge !== "function") return;
    if (!isPost(given)) return acknowledge({ status: 400 });
    const posted = await database.post(socket.data.key, given.channelId, given.topic, given.content);
    if (posted.status !== 200) return acknowledge({ status: posted.status });
    acknowledge({ status: 200, id: posted.message.id });
    io.to(roomOf(given.channelId)).emit("message", posted.message);
  });
});

function roomOf(channelId) {
  return `channel:${channelId}`;
}

function isPost(given) {
  const isText = (text, max) => typeof text === "string" && text.length > 0 && text.length <= max;
  return (
    Number.isSafeInteger(given?.channelId) &&
    isText(given.topic, TOPIC_LENGTH_MAX) &&
    isText(given.content, CONTENT_LENGTH_MAX)
  );
}

async function answer(request, response) {
  const channelId = PAGE_PATH.exec(request.url ?? "")?.[1];
  if (channelId === undefined) return response.writeHead(404).end();
  const messages = await database.newest(bearerOf(request.headers.authorization), Number(channelId), 1);
  return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ messages }));
}

await serve(
  database,
  async () => {
    await new Promise((resolve) => http.listen(0, HOST, resolve));
    return http.address().port;
  },
  async () => {
    http.closeAllConnections();
    await io.close();
  },
);
