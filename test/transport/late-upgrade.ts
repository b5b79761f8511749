/**
 * A program for native.test.ts, which reads its standard error: serves one socket that is accepted in a later pass of
 * the loop, while no other is open, and answers with a message over it.
 */
import { once } from "node:events";
import { WebSocket } from "ws";
import { loadNative } from "../../src/edge/transport/native.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { malformedBody, socketPath, watchedRoute } from "./app.ts";

const app = (await loadNative()).createApp({ tls: null, malformedBody, timers: systemClock });
if (app === null) throw new Error("no app");
app.onSocket(
  socketPath,
  watchedRoute({
    upgrade(response, _request, accept) {
      response.onAborted(() => undefined);
      setImmediate(() => accept({ name: "late" }, ""));
    },
    open: (socket) => void socket.send("hello", false),
  }).route,
);
const port = await app.listen("127.0.0.1", 0);
const client = new WebSocket(`ws://127.0.0.1:${port}${socketPath}`);
const [message] = await once(client, "message");
process.stdout.write(`${message}\n`);
client.terminate();
void app.stopListening();
app.close();
