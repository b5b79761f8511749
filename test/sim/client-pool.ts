/** The clients of a run: they follow events, disconnect, stall and resume as the seed determines. */
import type { Command } from "../../actors/protocol/decision.ts";
import { commands } from "../support/runtime.ts";
import type { Posted } from "./audience.ts";
import { type ClientWorld, VirtualClient } from "./client.ts";
import { KnownState, queueOptions } from "./known-state.ts";
import type { Machine } from "./machine.ts";
import type { World } from "./world.ts";

const clients_max = 6;

export interface ClientPoolTools extends Omit<ClientWorld, "isDown" | "hasFailed" | "inThisState" | "receive"> {
  readonly machine: () => Machine;
  readonly world: () => World;
  met(kind: "lost network" | "stalled reader"): void;
}

export class ClientPool {
  readonly #tools: ClientPoolTools;
  #clients: VirtualClient[] = [];
  /** Those of them whose registration was not answered yet. */
  readonly #registering = new Set<VirtualClient>();
  #queues = 0;
  #received = 0;
  #compared = 0;

  constructor(tools: ClientPoolTools) {
    this.#tools = tools;
  }

  /** Number of events received by all clients. */
  get received(): number {
    return this.#received + this.#clients.reduce((sum, { received }) => sum + received, 0);
  }

  /** Number of events whose effect on a client's state was compared with a fresh state. */
  get compared(): number {
    return this.#compared + this.#clients.reduce((sum, { compared }) => sum + compared, 0);
  }

  /** The clients to whom events are pushed, with the number of the connection. */
  connected(): ReadonlyMap<unknown, number> {
    const connected = new Map<VirtualClient, number>();
    for (const client of this.#clients) if (client.pushedOn !== null) connected.set(client, client.pushedOn);
    return connected;
  }

  /** @param connected as it was when the message was pushed */
  expect(posted: Posted, connected: ReadonlyMap<unknown, number>): void {
    for (const client of this.#clients) client.expect(posted, connected.get(client) ?? null);
  }

  departed(hub: Machine["hub"], userId: number): void {
    for (const client of this.#clients) client.departed(hub, userId);
  }

  /** Lets some of the clients act. */
  move(): void {
    const { random } = this.#tools.world();
    this.#clients = this.#clients.filter((client) => {
      const isRegistered = this.#registering.has(client) || this.#tools.replica.has("queues", client.queueId);
      const isKept = !client.isGone && isRegistered;
      if (!isKept) this.#leave(client);
      return isKept;
    });
    if (this.#clients.length < clients_max) this.#register(this.#tools.world().user());
    for (const client of random.some(this.#clients, 2)) {
      const drawn = random.next();
      if (!this.#registering.has(client)) this.#moveOne(client, drawn);
    }
  }

  #moveOne(client: VirtualClient, drawn: number): void {
    const { machine, met, world } = this.#tools;
    if (!client.isConnected) this.#connect(client);
    else if (drawn < 0.2) {
      met("lost network");
      if (drawn < 0.1) client.dropNext();
      else machine().guard(() => client.cut());
    } else if (drawn < 0.4) {
      met("stalled reader");
      client.stall(world().random.pick([1, 1000]));
    } else machine().guard(() => client.readAgain());
  }

  #connect(client: VirtualClient): void {
    const machine = this.#tools.machine();
    machine.guard(() => client.connect(machine.realm, machine.hub));
  }

  #leave(client: VirtualClient): void {
    this.#received += client.received;
    this.#compared += client.compared;
    this.#tools.machine().guard(() => client.cut());
  }

  /** As in POST /register, the state and the first position are those of the moment of the response (E2). */
  #register(userId: number): void {
    this.#queues++;
    const queueId = `queue-${this.#queues}`;
    const machine = this.#tools.machine();
    const request = machine.receive();
    void machine.realm.dispatcher.ask(registration(userId, queueId)).then((result) => {
      if (machine.isDown || result.kind !== "ok") return;
      const lastEventId = machine.realm.view.position - 1;
      machine.hub.queue(queueId)?.startAt(lastEventId);
      const client = this.#client({ userId, queueId, lastEventId, polls: this.#tools.world().random.chance(0.3) });
      client.known = new KnownState(machine.realm, userId);
      this.#clients.push(client);
      this.#registering.add(client);
      request.answer(() => {
        if (machine.isDown) return;
        this.#registering.delete(client);
        this.#connect(client);
      });
    });
  }

  #client(registered: ConstructorParameters<typeof VirtualClient>[0]): VirtualClient {
    const { audience, replica, report, trace, crashesBetween, machine } = this.#tools;
    return new VirtualClient(registered, {
      audience,
      replica,
      report,
      trace,
      inThisState: (look) => machine().turns.inThisState(look),
      receive: () => machine().receive(),
      isDown: () => machine().isDown,
      hasFailed: () => machine().hasFailed,
      crashesBetween,
    });
  }

  /** The machine went down: all clients are disconnected. */
  cut(): void {
    // A client whose registration was not answered knows of no queue.
    this.#clients = this.#clients.filter((client) => !this.#registering.has(client));
    this.#registering.clear();
    for (const client of this.#clients) client.cut();
  }

  /** @param share share of the disconnected clients */
  reconnect(share: number): void {
    for (const client of this.#clients) {
      const isReady = !client.isConnected && !this.#registering.has(client);
      if (isReady && this.#tools.world().random.chance(share)) this.#connect(client);
    }
  }

  readAgain(): void {
    for (const client of this.#clients) this.#tools.machine().guard(() => client.readAgain());
  }

  settle(): void {
    for (const client of this.#clients) client.settle(this.#tools.machine().realm);
  }
}

function registration(userId: number, queueId: string): Command<"queue.register"> {
  const command = commands.register(userId, queueId);
  return { ...command, params: { ...command.params, options: queueOptions } };
}
