/**
 * Every operation while nothing becomes durable (M9): no answer leaves, because each shows at least that the
 * credentials are valid. The gate of the realm is shut as by a turn whose record is never flushed.
 */
import t from "tap";
import type { Endpoint } from "../../schemas/endpoint.ts";
import { endpoints } from "../../schemas/index.ts";
import { rowFields, type TableName } from "../../schemas/records.ts";
import type { RealmGate } from "../../src/journal/gate.ts";
import { realmOf } from "../support/conversation.ts";
import { exchange, RawConnection } from "../support/http.ts";
import { startTestServer } from "../support/server.ts";

const tables = Object.keys(rowFields) as TableName[];
const socketPath = "/api/v1/events/ws";
const host = "Host: 127.0.0.1\r\n";

function requestOf({ method, path }: Endpoint, authorization: string): string {
  const filled = path.replaceAll(/\{[^}]+\}/g, "1");
  const head = `${method} /api/v1${filled} HTTP/1.1\r\n${host}Authorization: ${authorization}\r\n`;
  return `${head}Content-Length: 0\r\n\r\n`;
}

const upgrade = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"].join("\r\n");
const upgradeKey = `Sec-WebSocket-Key: ${Buffer.alloc(16, 1).toString("base64")}`;
const refusedUpgrade = `GET ${socketPath} HTTP/1.1\r\n${host}${upgrade}\r\n${upgradeKey}\r\nAuthorization: Basic eDp5\r\n\r\n`;

t.test("[M9] no operation and no refused upgrade is answered before what it shows is durable", async (t) => {
  const server = await startTestServer(t);
  const { owner, url } = server;
  const gate = realmOf(server).gate as RealmGate;
  const requests = new Map([
    ["a refused upgrade", refusedUpgrade] as const,
    ...endpoints.map((endpoint) => [endpoint.operationId, requestOf(endpoint, owner.authorization)] as const),
  ]);
  const answered: string[] = [];
  gate.appended(Number.MAX_SAFE_INTEGER, tables);
  // Turns of these requests are flushed by the real journal; they must not open the gate again.
  const appended = gate.appended.bind(gate);
  gate.appended = () => undefined;
  const connections = new Map<string, RawConnection>();
  for (const [name, request] of requests) {
    const connection = new RawConnection(url);
    connections.set(name, connection);
    await connection.write(request);
    // Whatever leaves at once has left before these answers, which show nothing of a realm.
    for (let count = 0; count < 3; count++) {
      const other = await exchange(url, `GET ${socketPath} HTTP/1.1\r\n${host}\r\n`);
      if (other?.status !== 400) throw new Error("a request that shows nothing was not answered");
    }
  }
  for (const [name, connection] of connections) {
    if (connection.rest !== "") answered.push(`${name}: ${connection.rest.split("\r\n")[0]}`);
    connection.destroy();
  }
  t.strictSame(answered, []);
  appended(0, tables);
  t.equal((await owner.anonymous().get("/server_settings")).status, 200, "the control: an open gate");
});
