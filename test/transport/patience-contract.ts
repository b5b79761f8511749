/**
 * The behaviour required of every transport with clients that are too slow or silent. These tests wait in real time, as
 * the transports do.
 */
import { limits } from "../../schemas/limits.ts";
import { RawConnection } from "../support/http.ts";
import {
  bodyOf,
  type Contract,
  connectSocket,
  respond,
  serve,
  socketPath,
  until,
  upgradeHead,
  watchedRoute,
} from "./app.ts";

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

export const patienceContract: Contract = {
  "[S3] receive_ms_max: clients that send too slowly are closed, those that wait for the server are not": async (
    t,
    transport,
  ) => {
    const { url } = await serve(t, transport, {
      handler(response, request) {
        response.onAborted(() => undefined);
        if (request.getUrl() === "/late") setTimeout(() => respond(response, "late"), limits.receive_ms_max + 4000);
        else if (request.getUrl() === "/slow") void bodyOf(response);
        else respond(response, "");
      },
    });
    const slow: Readonly<Record<string, readonly [beginning: string, more: string]>> = {
      "says nothing": ["", ""],
      "never ends its head": ["GET / HTTP/1.1\r\nHost: x\r\nX: ", "y"],
      "sends its body in drops": ["POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n", "y"],
      "says nothing after an answer": [get("/"), ""],
    };
    const late = new RawConnection(url);
    await late.write(get("/late"));
    const busy = new RawConnection(url);
    let isOver = false;
    let answers = 0;
    const asking = (async () => {
      for (; !isOver; answers++) {
        await busy.write(get("/"));
        if ((await busy.answer()) === null) return "closed";
        await new Promise<void>((resume) => setTimeout(resume, 500));
      }
      return "open";
    })();
    const drips = Object.values(slow).map(async ([beginning, more]) => {
      const connection = new RawConnection(url);
      await connection.write(beginning);
      const drip = setInterval(() => void connection.write(more), 500);
      await connection.closed;
      clearInterval(drip);
    });
    await Promise.all(drips);
    t.equal((await late.answer())?.text, "late");
    isOver = true;
    t.equal(await asking, "open", `after ${answers} answers`);
    for (const connection of [late, busy]) connection.destroy();
  },

  "[S3] a silent client is pinged; one that does not answer is closed, one that does stays": async (t, transport) => {
    const heartbeatS = 4;
    const [silent, faithful] = [watchedRoute({ heartbeatS }), watchedRoute({ heartbeatS })];
    const { url } = await serve(t, transport, { route: silent.route });
    const other = await serve(t, transport, { route: faithful.route });
    const connection = new RawConnection(url);
    await connection.write(upgradeHead(socketPath));
    const client = await connectSocket(t, other.url);
    let pings = 0;
    client.on("ping", () => pings++);
    await silent.closed;
    t.ok(connection.rest.endsWith("\x89\x00"), "it was asked first");
    await until(() => pings > 1);
    t.strictSame(faithful.events, ["open "]);
  },
};
