/**
 * The exact bounds of sockets (S3): how many may exist, and how much a reader may leave unread (E3). The server's
 * session runs on an object as its connection, because a test cannot control the kernel's buffers. slow-reader.test.ts
 * tests real stalled connections.
 */

import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { Hub } from "../../src/edge/realtime/hub.ts";
import { SocketServer } from "../../src/edge/realtime/socket-server.ts";
import type {
  SocketConnection,
  SocketRoute,
  TransportRequest,
  TransportResponse,
  WebApp,
} from "../../src/edge/transport/transport.ts";
import { SocketLine } from "../sim/lines.ts";
import { noOperations } from "../support/no-operations.ts";
import { answerOf, commands, type OpenRealm, openNewRealm, ownerId } from "../support/runtime.ts";
import { wireMemory } from "../support/wire-memory.ts";

const sent = 1;
const dropped = 2;

/** The remote end, as the transport reports it. */
class Reader implements SocketConnection {
  buffered = 0;
  /** The result of `send`. */
  said = sent;
  ended: number | null = null;
  readonly messageIds: number[] = [];

  send(data: string | Buffer): number {
    if (this.said === dropped) return dropped;
    const frame = JSON.parse(String(data)) as { event?: Event; events?: Event[] };
    for (const { message } of frame.event === undefined ? (frame.events ?? []) : [frame.event]) {
      if (message !== undefined) this.messageIds.push(message.id);
    }
    return this.said;
  }

  sendFirstFragment(): number {
    throw new Error("no response here is large");
  }

  sendFragment = this.sendFirstFragment;
  sendLastFragment = this.sendFirstFragment;

  getBufferedAmount(): number {
    return this.buffered;
  }

  end(code: number): void {
    this.ended = code;
  }
}

interface Event {
  readonly message?: { readonly id: number };
}

class Bench {
  readonly #realm: OpenRealm;
  readonly #hub: Hub;

  private constructor(realm: OpenRealm, hub: Hub) {
    this.#realm = realm;
    this.#hub = hub;
  }

  /** A realm with one queue, which follows everything from now on. */
  static async open(t: Test): Promise<Bench> {
    const created = await openNewRealm(t);
    const hub = new Hub(created.realm, { limitsPresence: false, reportBug: (error) => t.fail(String(error)) });
    answerOf(await created.ask(commands.register(ownerId, "q")));
    return new Bench(created, hub);
  }

  /** A reader that resumes after the given event id; by default it starts at the current position. */
  async follow(reader: Reader, after = this.#realm.realm.view.position - 1): Promise<SocketLine> {
    const { realm } = this.#realm;
    const user = realm.view.users.get(ownerId);
    if (user === undefined) throw new Error("there is no owner");
    const line = new SocketLine({ realm, hub: this.#hub, user, queueId: "q" }, reader);
    line.resume(after);
    await this.#realm.idle();
    return line;
  }

  get position(): number {
    return this.#realm.realm.view.position - 1;
  }

  async post(): Promise<number> {
    const answered = await this.#realm.ask(commands.post("t", "hello"));
    await this.#realm.idle();
    return answerOf(answered)["id"] as number;
  }
}

t.test("[S3, E3] socket_buffer_bytes_soft_max: that much may be unread; one byte more closes the socket", async (t) => {
  const bench = await Bench.open(t);
  const start = bench.position;
  const reader = new Reader();
  await bench.follow(reader);
  reader.buffered = limits.socket_buffer_bytes_soft_max;
  const ids = [await bench.post()];
  t.strictSame([reader.messageIds, reader.ended], [ids, null], "at the bound");
  reader.buffered++;
  const missed = await bench.post();
  t.strictSame([reader.messageIds, reader.ended], [ids, 4508], "nothing more is sent: reconnect and resume");
  const again = new Reader();
  await bench.follow(again, start);
  t.strictSame(again.messageIds, [...ids, missed], "[E2] and nothing is lost");
});

t.test(
  "[S3, E3] socket_buffer_bytes_hard_max: a send that the buffer does not accept closes the socket, whatever was sent",
  async (t) => {
    const bench = await Bench.open(t);
    const start = bench.position;
    const reader = new Reader();
    await bench.follow(reader);
    reader.said = dropped;
    const missed = await bench.post();
    t.strictSame([reader.messageIds, reader.ended], [[], 4508]);
    const again = new Reader();
    await bench.follow(again, start);
    t.strictSame(again.messageIds, [missed], "[E2] and nothing is lost");
  },
);

t.test("[S3, E3] socket_buffer_bytes_soft_max: a replay waits while half of it is unread", async (t) => {
  const bench = await Bench.open(t);
  const start = bench.position;
  const ids = [await bench.post(), await bench.post()];
  const reader = new Reader();
  reader.buffered = limits.socket_buffer_bytes_soft_max / 2;
  const line = await bench.follow(reader, start);
  t.strictSame([reader.messageIds, reader.ended], [[], null], "nothing is sent, and no socket is closed");
  reader.buffered--;
  line.readAgain();
  while (reader.messageIds.length < ids.length && reader.ended === null) await bench.post().then((id) => ids.push(id));
  t.strictSame([reader.messageIds, reader.ended], [ids, null]);
});

/** A request that opens a socket. */
const upgradeHeaders: Readonly<Record<string, string>> = {
  upgrade: "websocket",
  connection: "Upgrade",
  "sec-websocket-version": "13",
  "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
  authorization: "Basic somebody",
};

/** The callbacks mounted on an app. */
function mounted(server: SocketServer): SocketRoute<object> {
  let mountedRoute: SocketRoute<object> | null = null;
  const app = {
    onSocket: (_path: string, route: SocketRoute<object>) => {
      mountedRoute = route;
    },
  };
  // Nothing else of the app is used, because so many real connections would not fit into a process.
  server.mount(app as unknown as WebApp);
  if (mountedRoute === null) throw new Error("nothing was mounted");
  return mountedRoute;
}

t.test("[S3] sockets_max: one socket more is rejected with 503, and a closed socket makes room", async (t) => {
  const { realm, clock } = await openNewRealm(t);
  const hub = new Hub(realm, { limitsPresence: false, reportBug: (error) => t.fail(String(error)) });
  const nobody = () => {
    throw new Error("no socket authenticates");
  };
  const owner = realm.view.users.get(ownerId);
  if (owner === undefined) throw new Error("there is no owner");
  let people = 0;
  const server = new SocketServer({
    realmOf: () => realm,
    hubOf: () => hub,
    onHandshake: null,
    ...noOperations(),
    // One socket per user: the number of sockets of one user has another bound.
    authenticate: () => {
      people++;
      return { caller: { ...owner, id: people }, keyHash: String(people), isSession: false };
    },
    verifyKey: nobody,
    verifySession: () => null,
    limitFrame: () => null,
    clientName: () => "test",
    isSecure: false,
    readForwarded: () => ({ address: "127.0.0.1", isSecure: false }),
    heartbeatS: limits.socket_heartbeat_s,
    clock,
    ...wireMemory(() => clock.monotonic()),
    reportBug: (error) => t.fail(String(error)),
  });
  const { upgrade, open, closed } = mounted(server);
  const tryUpgrade = async () => {
    let status = "";
    let body = "";
    let data: unknown = null;
    const response = {
      onAborted: () => response,
      cork: (work: () => void) => work(),
      writeStatus: (text: string) => {
        status = text;
      },
      writeHeader: () => response,
      end: (text: string) => {
        body = text;
      },
    };
    const request = { getHeader: (name: string) => upgradeHeaders[name] ?? "" };
    upgrade(response as unknown as TransportResponse, request as unknown as TransportRequest, (given) => {
      data = given;
    });
    // A rejection is written in the next pass of the event loop.
    if (data === null) await new Promise<void>((resolve) => clock.soon(resolve));
    return { status, body, data };
  };
  const sockets: unknown[] = [];
  const enter = async () => {
    const { data } = await tryUpgrade();
    if (data === null) throw new Error(`rejected as number ${sockets.length + 1}`);
    const socket = { getUserData: () => data, end: () => undefined, getBufferedAmount: () => 0, send: () => sent };
    sockets.push(socket);
    open(socket as never);
  };
  for (let count = 0; count < limits.sockets_max; count++) await enter();
  t.equal(server.size, limits.sockets_max);
  const { status, body, data } = await tryUpgrade();
  t.match(status, /^503 /);
  t.match(JSON.parse(body), { result: "error", code: "OVERLOADED" });
  t.equal(data, null);
  closed(sockets.pop() as never);
  await enter();
  t.equal(server.size, limits.sockets_max);
  for (const socket of sockets) closed(socket as never);
  t.equal(server.size, 0);
});
