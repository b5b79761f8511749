/**
 * Every operation while nothing becomes durable (M9): no answer leaves, because each shows at least that the
 * credentials are valid. The gate of the realm is shut as by a turn whose record is never flushed.
 */
import t from "tap";
import type { Endpoint } from "../../schemas/endpoint.ts";
import { endpoints } from "../../schemas/index.ts";
import { limits } from "../../schemas/limits.ts";
import { getMessages } from "../../schemas/messages.ts";
import { deactivateRealm } from "../../schemas/realm-deactivation.ts";
import { roles } from "../../schemas/types.ts";
import type { RealmDurabilityGate } from "../../src/durability/journal/durability-gate.ts";
import { OverlayTables } from "../../src/durability/journal/overlay-tables.ts";
import { authenticate } from "../../src/edge/http/credentials.ts";
import type { Client } from "../support/client.ts";
import { exchange, RawConnection } from "../support/http.ts";
import { multipartType } from "../support/pictures.ts";
import { connect } from "../support/realtime.ts";
import { startTestServer, type Teardown, type TestServer } from "../support/server.ts";
import { shutGate } from "../support/shut-gate.ts";

const socketPath = "/api/v1/events/ws";
const host = "Host: 127.0.0.1\r\n";

function requestOf({ method, path }: Endpoint, authorization: string): string {
  const filled = path.replaceAll(/\{[^}]+\}/g, "1");
  const head = `${method} /api/v1${filled} HTTP/1.1\r\n${host}Authorization: ${authorization}\r\n`;
  return `${head}Content-Length: 0\r\n\r\n`;
}

/** Whatever leaves at once has left before these answers, which show nothing of a realm. */
async function othersAnswered({ url }: TestServer): Promise<void> {
  for (let count = 0; count < 3; count++) {
    const other = await exchange(url, `GET ${socketPath} HTTP/1.1\r\n${host}\r\n`);
    if (other?.status !== 400) throw new Error("a request that shows nothing was not answered");
  }
}

function firstLine({ rest }: RawConnection): string {
  return rest.split("\r\n")[0] ?? "";
}

async function send(t: Teardown, { url }: TestServer, request: string): Promise<RawConnection> {
  const connection = new RawConnection(url);
  t.teardown(() => connection.destroy());
  await connection.write(request);
  return connection;
}

const upgrade = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"].join("\r\n");
const upgradeKey = `Sec-WebSocket-Key: ${Buffer.alloc(16, 1).toString("base64")}`;
const upgradeOf = (authorization: string) =>
  `GET ${socketPath} HTTP/1.1\r\n${host}${upgrade}\r\n${upgradeKey}\r\nAuthorization: ${authorization}\r\n\r\n`;

t.test("[M9] no operation and no upgrade is answered before what it shows is durable", async (t) => {
  const server = await startTestServer(t);
  const { view } = server.realm;
  // Each operation has a caller of its own, whose key no other one revokes; the last one closes the organization.
  const isLast = ({ operationId }: Endpoint) => operationId === deactivateRealm.operationId;
  const ordered = [...endpoints.filter((endpoint) => !isLast(endpoint)), ...endpoints.filter(isLast)];
  const requests: { readonly name: string; readonly request: string; readonly authorization: string }[] = [];
  for (const [index, endpoint] of ordered.entries()) {
    const { authorization } = await server.user(`caller${index}x`, roles.owner);
    requests.push({ name: endpoint.operationId, request: requestOf(endpoint, authorization), authorization });
  }
  const openGate = shutGate(server);
  const connections = new Map([["a refused upgrade", await send(t, server, upgradeOf("Basic eDp5"))]]);
  connections.set("an accepted upgrade", await send(t, server, upgradeOf(server.owner.authorization)));
  const invalid: string[] = [];
  for (const { name, request, authorization } of requests) {
    if (!("caller" in authenticate(view, authorization))) invalid.push(name);
    connections.set(name, await send(t, server, request));
    await othersAnswered(server);
  }
  t.strictSame(invalid, [], "every request has a valid key");
  const answered = [...connections].filter(([, { rest }]) => rest !== "");
  const found = answered.map(([name, connection]) => `${name}: ${firstLine(connection)}`);
  t.strictSame(found, []);
  openGate();
  t.equal((await server.owner.anonymous().get("/server_settings")).status, 200, "the control: an open gate");
});

t.test("[M9] an upgrade waits until its credentials are durable, and is closed if they ended meanwhile", async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  const leaver = await server.user("leaver");
  shutGate(server, server.realm.gate.newestRecord + 1);
  let isAccepted = false;
  const connecting = connect(owner).then((socket) => {
    isAccepted = true;
    return socket;
  });
  const refused = await send(t, server, upgradeOf(leaver.authorization));
  await othersAnswered(server);
  t.strictSame([isAccepted, refused.rest], [false, ""]);
  // Its record is the one that the gate waits for.
  t.equal((await owner.delete(`/users/${leaver.userId}`)).status, 200);
  const socket = await connecting;
  t.equal((await socket.ask({ type: "call", method: "GET", path: "/users/me" })).result, "success");
  socket.terminate();
  await refused.closed;
  t.equal(refused.rest, "");
});

t.test("[M9] a body that is rejected by its size or number shows no credentials that are not durable", async (t) => {
  const server = await startTestServer(t, { environment: { MAX_FILE_UPLOAD_SIZE_MIB: "1" } });
  const { owner } = server;
  const other = await server.user("other");
  const upload = ({ authorization }: Client, length: number) =>
    `POST /api/v1/user_uploads HTTP/1.1\r\n${host}Authorization: ${authorization}\r\n` +
    `Content-Type: ${multipartType}\r\nContent-Length: ${length}\r\n\r\n`;
  const slow = Array.from({ length: limits.uploads_per_user_max }, () => send(t, server, upload(owner, 100)));
  await Promise.all(slow);
  await othersAnswered(server);
  const openGate = shutGate(server);
  const bytes = 2 * 1024 * 1024;
  const large = await send(t, server, `${upload(other, bytes)}${"x".repeat(bytes)}`);
  const more = await send(t, server, upload(owner, 100));
  await othersAnswered(server);
  t.strictSame([large, more].map(firstLine), ["", ""]);
  openGate();
  t.equal((await owner.get("/users/me")).status, 200, "the control: an open gate");
});

/**
 * What is durable now stays all that is: turns from now on wait, as on a disk that stands still.
 * @returns a function that makes them durable
 */
function freezeGate(server: TestServer): () => void {
  const gate = server.realm.gate as RealmDurabilityGate;
  const durable = gate.newestRecord;
  const { isOpenFor } = gate;
  const waiting: (() => void)[] = [];
  const waitFor = gate.waitFor.bind(gate);
  gate.isOpenFor = (position) => position <= durable && isOpenFor.call(gate, position);
  gate.waitFor = (leave, seen = gate.newestRecord) => {
    if (gate.isOpenFor(seen)) leave();
    else waiting.push(leave);
  };
  // The journal flushes them nevertheless. Their rows must look as if it had not.
  const { checkpointed } = OverlayTables.prototype;
  OverlayTables.prototype.checkpointed = () => false;
  Object.defineProperty(gate, "isOpen", { configurable: true, get: () => gate.isOpenFor(gate.newestRecord) });
  return () => {
    OverlayTables.prototype.checkpointed = checkpointed;
    gate.isOpenFor = isOpenFor;
    gate.waitFor = waitFor;
    Reflect.deleteProperty(gate, "isOpen");
    for (const leave of waiting) waitFor(leave);
  };
}

const idsOf = (messages: readonly { readonly id: number }[]) => messages.map(({ id }) => id);

t.test("[M9] a read of rows that are durable does not wait for younger turns", async (t) => {
  const server = await startTestServer(t);
  const { owner } = server;
  const { view } = server.realm;
  const channel = await owner.createChannel("posts", [owner]);
  const old = await owner.say(channel, "calm", "old");
  const thaw = freezeGate(server);
  const posted = owner.say(channel, "busy", "new");
  while (view.counter("message") === old) await othersAnswered(server);
  const own = await owner.get("/users/me");
  t.equal(own.body.max_message_id, old, "the newest message that is durable");
  t.equal((await owner.get(`/messages/${old}`)).body.raw_content, "old");
  t.equal((await owner.get("/users")).status, 200);
  const topic = (name: string) =>
    JSON.stringify([
      ["channel", "posts"],
      ["topic", name],
    ]);
  const page = { anchor: "newest", num_before: 10, num_after: 10 };
  const calm = await owner.get("/messages", { ...page, narrow: topic("calm") });
  t.strictSame([idsOf(calm.body.messages), calm.body.found_newest], [[old], true]);
  const checked = await owner.get("/messages/matches_narrow", { msg_ids: [old], narrow: topic("calm") });
  t.strictSame(Object.keys(checked.body.messages), [`${old}`]);
  const unread = { ...page, anchor: "first_unread", narrow: topic("calm") };
  t.strictSame(idsOf((await owner.get("/messages", unread)).body.messages), [old]);
  const query = new URLSearchParams({ anchor: "newest", num_before: "10", num_after: "0", narrow: topic("busy") });
  const path = `${getMessages.path}?${query}`;
  const newest = await send(t, server, requestOf({ ...getMessages, path }, owner.authorization));
  await othersAnswered(server);
  t.equal(newest.rest, "", "the control: the topic of the new message");
  thaw();
  t.equal((await owner.get("/users/me")).body.max_message_id, await posted);
});
