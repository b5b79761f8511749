/**
 * The bounds of sockets, each exactly (S3): how many there may be, and how much a reader may leave unread (E3). The server's own
 * session stands on a connection that is an object, because what the kernel takes of a real one is not ours to say; real
 * connections that stall are in slow-reader.test.ts.
 */

import type { HttpRequest, HttpResponse, WebSocketBehavior } from "uWebSockets.js";
import t, { type Test } from "tap";
import { limits } from "../../schemas/limits.ts";
import { Hub } from "../../src/realtime/hub.ts";
import type { Connection } from "../../src/realtime/socket-host.ts";
import { SocketServer } from "../../src/realtime/socket-server.ts";
import { SocketLine } from "../sim/lines.ts";
import { answerOf, commands, type OpenRealm, openFounded, ownerId } from "../support/runtime.ts";
import { wireMemory } from "../support/wire-memory.ts";

const sent = 1;
const dropped = 2;

/** What is at the other end, as uWebSockets.js tells of it. */
class Reader implements Connection {
  buffered = 0;
  /** What `send` says. */
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
    throw new Error("no answer here is large");
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
    const founded = await openFounded(t);
    const hub = new Hub(founded.realm, { limitsPresence: false, reportBug: (error) => t.fail(String(error)) });
    answerOf(await founded.ask(commands.register(ownerId, "q")));
    return new Bench(founded, hub);
  }

  /** A reader with the events after one that it has; the position is of the moment when there is none. */
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

t.test(
  "[S3] [E3] socket_buffer_bytes_soft_max: so much may be unread, with one byte more the socket ends",
  async (t) => {
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
    t.strictSame(again.messageIds, [...ids, missed], "[E2] and nothing is lost by it");
  },
);

t.test("[S3] [E3] socket_buffer_bytes_hard_max: what is not taken ends the socket, whatever it was", async (t) => {
  const bench = await Bench.open(t);
  const start = bench.position;
  const reader = new Reader();
  await bench.follow(reader);
  reader.said = dropped;
  const missed = await bench.post();
  t.strictSame([reader.messageIds, reader.ended], [[], 4508]);
  const again = new Reader();
  await bench.follow(again, start);
  t.strictSame(again.messageIds, [missed], "[E2] and nothing is lost by it");
});

t.test("[S3] [E3] socket_buffer_bytes_soft_max: a replay waits while half of it is unread", async (t) => {
  const bench = await Bench.open(t);
  const start = bench.position;
  const ids = [await bench.post(), await bench.post()];
  const reader = new Reader();
  reader.buffered = limits.socket_buffer_bytes_soft_max / 2;
  const line = await bench.follow(reader, start);
  t.strictSame([reader.messageIds, reader.ended], [[], null], "nothing is sent, and nobody is ended");
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

/** The callbacks that are mounted on an app. */
function mounted(server: SocketServer): WebSocketBehavior<unknown> {
  let behavior: WebSocketBehavior<unknown> = {};
  const app = {
    ws: (_path: string, given: WebSocketBehavior<unknown>) => {
      behavior = given;
    },
    get: () => undefined,
  };
  // Of the library's app, nothing else is used; so many real connections would not fit into a process.
  server.mount(app as unknown as Parameters<SocketServer["mount"]>[0]);
  return behavior;
}

t.test("[S3] sockets_max: so many at a time, one more is refused with 503, one that goes makes room", async (t) => {
  const { realm, clock } = await openFounded(t);
  const hub = new Hub(realm, { limitsPresence: false, reportBug: (error) => t.fail(String(error)) });
  const nobody = () => {
    throw new Error("nobody says who they are");
  };
  const owner = realm.view.users.get(ownerId);
  if (owner === undefined) throw new Error("there is no owner");
  let people = 0;
  const server = new SocketServer({
    realmOf: () => realm,
    hubOf: () => hub,
    perform: nobody,
    // One each: how many sockets a person may have is another bound.
    authenticate: () => {
      people++;
      return { caller: { ...owner, id: people }, keyHash: String(people) };
    },
    verifyKey: nobody,
    limitFrame: () => null,
    clientName: () => "test",
    isSecure: false,
    readForwarded: () => ({ address: "127.0.0.1", isSecure: false }),
    heartbeatS: limits.socket_heartbeat_s,
    clock,
    ...wireMemory(() => clock.monotonic()),
    reportBug: (error) => t.fail(String(error)),
  });
  const { upgrade, open, close } = mounted(server);
  const knock = async () => {
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
      upgrade: (given: unknown) => {
        data = given;
      },
    };
    const request = { getHeader: (name: string) => upgradeHeaders[name] ?? "" };
    void upgrade?.(response as unknown as HttpResponse, request as unknown as HttpRequest, null as never);
    // A refusal is written in the next pass of the loop.
    if (data === null) await new Promise<void>((resolve) => clock.soon(resolve));
    return { status, body, data };
  };
  const sockets: unknown[] = [];
  const enter = async () => {
    const { data } = await knock();
    if (data === null) throw new Error(`refused as number ${sockets.length + 1}`);
    const socket = { getUserData: () => data, end: () => undefined, getBufferedAmount: () => 0, send: () => sent };
    sockets.push(socket);
    void open?.(socket as never);
  };
  for (let count = 0; count < limits.sockets_max; count++) await enter();
  t.equal(server.size, limits.sockets_max);
  const { status, body, data } = await knock();
  t.match(status, /^503 /);
  t.match(JSON.parse(body), { result: "error", code: "OVERLOADED" });
  t.equal(data, null);
  close?.(sockets.pop() as never, 1006, new ArrayBuffer(0));
  await enter();
  t.equal(server.size, limits.sockets_max);
  for (const socket of sockets) close?.(socket as never, 1006, new ArrayBuffer(0));
  t.equal(server.size, 0);
});
