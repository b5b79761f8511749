/** The clients of a run: they follow events, disconnect, stall and resume as the seed determines. */
import type { Command } from "../../actors/protocol/commands.ts";
import { commands } from "../support/runtime.ts";
import type { Posted } from "./audience.ts";
import { type ClientWorld, VirtualClient } from "./client.ts";
import { KnownState, queueOptions } from "./known-state.ts";
import type { Machine } from "./machine.ts";
import type { World } from "./world.ts";

const clients_max = 6;

export interface ClientPoolTools extends Omit<ClientWorld, "isDown" | "hasFailed"> {
  readonly machine: () => Machine;
  readonly world: () => World;
  met(kind: "lost network" | "stalled reader"): void;
}

export class ClientPool {
  readonly #tools: ClientPoolTools;
  #clients: VirtualClient[] = [];
  #queues = 0;
  #received = 0;

  constructor(tools: ClientPoolTools) {
    this.#tools = tools;
  }

  /** Number of events received by all clients. */
  get received(): number {
    return this.#received + this.#clients.reduce((sum, { received }) => sum + received, 0);
  }

  expect(posted: Posted): void {
    for (const client of this.#clients) client.expect(posted);
  }

  departed(hub: Machine["hub"], userId: number): void {
    for (const client of this.#clients) client.departed(hub, userId);
  }

  /** Lets some of the clients act. */
  move(): void {
    const { random } = this.#tools.world();
    this.#clients = this.#clients.filter((client) => {
      const isKept = !client.isGone && this.#tools.replica.has("queues", client.queueId);
      if (!isKept) this.#leave(client);
      return isKept;
    });
    if (this.#clients.length < clients_max) this.#register(this.#tools.world().user());
    for (const client of random.some(this.#clients, 2)) this.#moveOne(client, random.next());
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
    this.#tools.machine().guard(() => client.cut());
  }

  /** As in POST /register, the state and the first position are those of the moment of the response (E2). */
  #register(userId: number): void {
    this.#queues++;
    const queueId = `queue-${this.#queues}`;
    const machine = this.#tools.machine();
    const { audience, replica, report, trace, crashesBetween } = this.#tools;
    void machine.realm.dispatcher.ask(registration(userId, queueId)).then((result) => {
      if (machine.isDown || result.kind !== "ok") return;
      const lastEventId = machine.realm.view.position - 1;
      machine.hub.queue(queueId)?.startAt(lastEventId);
      const polls = this.#tools.world().random.chance(0.3);
      const client = new VirtualClient(
        { userId, queueId, lastEventId, polls },
        {
          audience,
          replica,
          report,
          trace,
          isDown: () => machine.isDown,
          hasFailed: () => machine.hasFailed,
          crashesBetween,
        },
      );
      client.known = new KnownState(machine.realm, userId);
      this.#clients.push(client);
      this.#connect(client);
    });
  }

  /** The machine went down: all clients are disconnected. */
  cut(): void {
    for (const client of this.#clients) client.cut();
  }

  /** @param share share of the disconnected clients */
  reconnect(share: number): void {
    for (const client of this.#clients) {
      if (!client.isConnected && this.#tools.world().random.chance(share)) this.#connect(client);
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
  const asked = commands.register(userId, queueId);
  return { ...asked, params: { ...asked.params, options: queueOptions } };
}
