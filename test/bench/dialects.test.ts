// Sockets with other protocols than this server's, against scripted servers on the independent `ws` package: login,
// keep-alive, posts answered on the same socket, rejections. No peer needs to be installed.

import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { type WebSocket, WebSocketServer } from "ws";
import { socketIoPost } from "../../bench/lib/dialects.ts";
import { runJob } from "../../bench/lib/generator-process.ts";
import { MARKER } from "../../bench/lib/http-request.ts";
import type { DeliveriesJob } from "../../bench/lib/job.ts";
import { openWorkspace } from "../../bench/lib/workspace.ts";
import { xmppPost } from "../../bench/lib/xmpp.ts";

const workspace = openWorkspace();
t.teardown(() => workspace.remove());
const HOST = "127.0.0.1";

/** A server of Socket.IO packets: `onPost` answers the values of an emitted event. */
async function serve(
  t: Test,
  options: { key: string; onPost: (values: unknown, all: ReadonlySet<WebSocket>) => number },
) {
  const server = new WebSocketServer({ host: HOST, port: 0 });
  await new Promise((resolve) => server.once("listening", resolve));
  t.teardown(() => server.close());
  const pongs: string[] = [];
  server.on("connection", (socket) => {
    socket.send('0{"sid":"x","pingInterval":25000}');
    socket.on("message", (data) => {
      const text = String(data);
      if (text.startsWith("40")) {
        const { key } = JSON.parse(text.slice(2)) as { key: string };
        socket.send(key === options.key ? '40{"sid":"y"}' : '44{"message":"who are you?"}');
        socket.send("2");
      } else if (text === "3") pongs.push(text);
      else if (text.startsWith("420")) {
        const [, values] = JSON.parse(text.slice(3)) as [string, unknown];
        socket.send(`430[{"status":${options.onPost(values, server.clients)}}]`);
      }
    });
  });
  return { address: { host: HOST, port: (server.address() as AddressInfo).port }, pongs };
}

const job = (address: DeliveriesJob["address"], key: string): DeliveriesJob => ({
  kind: "deliveries",
  address,
  watch: null,
  connections: 2,
  firstMarker: 0,
  decoder: "scan",
  cycles: [[socketIoPost("post", { content: `${MARKER} hello` })]],
  postSockets: { dialect: "socket.io", path: "/socket.io/?EIO=4&transport=websocket", authorizations: [key] },
  receivers: {
    dialect: "socket.io",
    path: "/socket.io/?EIO=4&transport=websocket",
    authorizations: [key],
    count: 3,
    register: "",
    localAddresses: [],
  },
  // On a busy machine a second has some posts.
  pace: { warmupMs: 50, durationMs: 1000, ratePerSecond: null },
});

t.test("Socket.IO: posts are answered, every receiver sees each, and pings are answered", async (t) => {
  const { address, pongs } = await serve(t, {
    key: "k",
    onPost: (values, all) => {
      for (const socket of all) socket.send(`42["message",${JSON.stringify(values)}]`);
      return 200;
    },
  });
  const result = await runJob(workspace, job(address, "k"));
  t.ok(result.posts > 0);
  t.ok(result.deliveries >= result.posts);
  t.match(result, { incomplete: 0, duplicates: 0, closedReceivers: 0, failures: { statuses: {}, unanswered: 0 } });
  t.equal(pongs.length, 5, "three receivers and two senders");
});

t.test("Socket.IO: a post that is rejected or lost is counted", async (t) => {
  const { address } = await serve(t, { key: "k", onPost: () => 403 });
  const result = await runJob(workspace, job(address, "k"));
  t.ok((result.failures.statuses["403"] ?? 0) > 0);
  t.match(result.failures.firstBody, /403/);
  t.ok(result.incomplete > 0);
});

t.test("Socket.IO: a rejected connection fails the run with the server's message", async (t) => {
  const { address } = await serve(t, { key: "k", onPost: () => 200 });
  await t.rejects(runJob(workspace, job(address, "other")), /who are you/);
});

/** A chat room for one kind of client, with the frames that ejabberd sends; it ignores unknown frames. */
async function serveRoom(t: Test, answerPost: (id: string, body: string) => string) {
  const server = new WebSocketServer({ host: HOST, port: 0, handleProtocols: (offered) => [...offered][0] ?? false });
  await new Promise((resolve) => server.once("listening", resolve));
  t.teardown(() => server.close());
  const joined: string[] = [];
  server.on("connection", (socket) => {
    t.equal(socket.protocol, "xmpp");
    let isKnown = false;
    socket.on("message", (data) => {
      const text = String(data);
      const say = (...frames: readonly string[]) => {
        for (const frame of frames) socket.send(frame);
      };
      if (text.startsWith("<open")) {
        const wanted = isKnown ? "<bind xmlns='b'/>" : "<mechanisms><mechanism>PLAIN</mechanism></mechanisms>";
        say("<open/>", `<stream:features>${wanted}</stream:features>`);
      } else if (text.startsWith("<auth")) {
        isKnown = text.includes(Buffer.from("\0anna\0secret").toString("base64"));
        say(isKnown ? "<success/>" : "<failure><not-authorized/></failure>");
      } else if (text.startsWith("<iq")) say("<iq xmlns='jabber:client' type='result' id='bind'/>");
      else if (text.startsWith("<presence")) {
        joined.push(/to="([^"]*)"/.exec(text)?.[1]?.replace(/-\d+$/, "") ?? "");
        say("<presence from='other'><x/></presence>", "<presence><x><status code='110'/></x></presence>", "<message/>");
      } else if (text.startsWith("<message")) {
        const [id = "", body = ""] = [/id="([^"]*)"/.exec(text)?.[1], /<body>(.*)<\/body>/.exec(text)?.[1]];
        const reflection = answerPost(id, body);
        for (const one of reflection.includes("error") ? [socket] : server.clients) one.send(reflection);
      }
    });
  });
  return { address: { host: HOST, port: (server.address() as AddressInfo).port }, joined };
}

const roomJob = (address: DeliveriesJob["address"], password: string): DeliveriesJob => {
  const login = { host: "h", user: "anna", password, room: "room@h" } as const;
  const dialect = "xmpp";
  return {
    ...job(address, ""),
    cycles: [0, 1].map((index) => [xmppPost("room@h", index, `${MARKER} hello`)]),
    postSockets: { dialect, path: "/ws", authorizations: [JSON.stringify({ ...login, nick: "poster" })] },
    receivers: {
      dialect,
      path: "/ws",
      authorizations: [JSON.stringify({ ...login, nick: "listener" })],
      count: 3,
      register: "",
      localAddresses: [],
    },
  };
};

t.test("XMPP: the reflected own message is the response, and every occupant sees it", async (t) => {
  const reflect = (id: string, body: string) => `<message id='${id}' type='groupchat'><body>${body}</body></message>`;
  const { address, joined } = await serveRoom(t, reflect);
  const result = await runJob(workspace, roomJob(address, "secret"));
  t.ok(result.posts > 0);
  t.match(result, { incomplete: 0, duplicates: 0, closedReceivers: 0, failures: { statuses: {}, unanswered: 0 } });
  t.same(joined.toSorted(), [
    ...["room@h/listener-00000", "room@h/listener-00001", "room@h/listener-00002"],
    ...["room@h/poster-00000", "room@h/poster-00001"],
  ]);
});

t.test("XMPP: a rejected message is no post, and a rejected login fails the run", async (t) => {
  const { address } = await serveRoom(t, (id) => `<message id='${id}' type='error'/>`);
  const result = await runJob(workspace, roomJob(address, "secret"));
  t.ok((result.failures.statuses["400"] ?? 0) > 0);
  t.equal(result.posts, 0);
  await t.rejects(runJob(workspace, roomJob(address, "wrong")), /not-authorized/);
});
