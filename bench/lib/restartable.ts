// One of our servers that keeps its port and its data when it is killed and started again, alone or as a node of a
// cluster.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { Child, type Exit } from "./child.ts";
import type { Address } from "./http-connection.ts";
import { freePort } from "./ports.ts";
import type { Watch } from "./probe.ts";
import { readCpuSeconds } from "./process-usage.ts";
import {
  type Environment,
  HOST,
  type Prepare,
  readServerPid,
  startEnvironment,
  type Transport,
  waitUntilReady,
} from "./target.ts";
import { PROJECT_ROOT, type Workspace } from "./workspace.ts";
import { type Credentials, readZuliprc } from "./zuliprc.ts";

export class Restartable {
  readonly dataFolder: string;
  readonly address: Address;
  readonly #metricsFile: string;
  readonly #environment: Environment;
  #child: Child;

  private constructor(dataFolder: string, port: number, environment: Environment) {
    this.dataFolder = dataFolder;
    this.#metricsFile = `${this.dataFolder}-metrics.json`;
    this.address = { host: HOST, port };
    this.#environment = environment;
    this.#child = this.#run();
  }

  /** Resolves when it answers. @param prepare fills the data folder before that */
  static async start(workspace: Workspace, environment: Environment, prepare?: Prepare): Promise<Restartable> {
    const dataFolder = workspace.makeFolder("data");
    await prepare?.(dataFolder);
    const server = new Restartable(dataFolder, await freePort(), environment);
    await server.onceReady();
    return server;
  }

  get watch(): Watch {
    return { pid: this.pid, metricsFile: this.#metricsFile };
  }

  /** The serving process. */
  get pid(): number {
    return readServerPid(this.dataFolder) ?? this.#child.pid;
  }

  /** Of the owner of the organization that was created in this folder. */
  get credentials(): Credentials {
    return readZuliprc(join(this.dataFolder, "zuliprc"));
  }

  get death(): string | null {
    return this.#child.death;
  }

  onceReady(): Promise<Transport> {
    return waitUntilReady(this.address, this.#child);
  }

  /** Ends it as a crash does. Resolves when it is gone. */
  async kill(): Promise<void> {
    const { pid } = this;
    if (readCpuSeconds(pid) !== null) process.kill(pid, "SIGKILL");
    this.#child.kill();
    await this.#child.exited;
  }

  startAgain(): void {
    this.#child = this.#run();
  }

  /** Ends it in order. Its data stays. */
  end(): Promise<Exit> {
    return this.#child.stop();
  }

  async stop(): Promise<Exit> {
    const exit = await this.end();
    rmSync(this.dataFolder, { recursive: true, force: true, maxRetries: 3 });
    return exit;
  }

  #run(): Child {
    return new Child({
      arguments: ["colloquy.mjs"],
      folder: PROJECT_ROOT,
      channel: false,
      environment: {
        ...startEnvironment,
        PORT: String(this.address.port),
        HOST,
        DATA_DIR: this.dataFolder,
        RATE_LIMITS: "off",
        METRICS_FILE: this.#metricsFile,
        ...this.#environment,
      },
    });
  }
}
