/** A real server on port 0 with a new data folder, and its users: the first tier of tests is black-box. */
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits } from "../../schemas/limits.ts";
import { readConfig } from "../../src/app/config.ts";
import { type RunningServer, startServer } from "../../src/app/server.ts";
import { createLog, type Log } from "../../src/log/log.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import { here, nodeFront, nodeKey, startEdge, to } from "../forwarding/edge.ts";
import { Client } from "./client.ts";
import { makeSpareFiles } from "./spare-files.ts";
import { checkLogs } from "./wire-events.ts";

/** The part of tap that helpers need: a place to register clean-up. */
export interface Teardown {
  teardown(callback: () => unknown): void;
}

export interface TestServer {
  readonly running: RunningServer;
  readonly url: string;
  readonly dataDir: string;
  /** The organization's owner. */
  readonly owner: Client;
  /** An account with an API key, created by the owner; a member by default. */
  person(name: string): Promise<Client>;
  stop(): Promise<void>;
}

export interface TestServerOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly dataDir?: string;
  readonly clock?: Clock;
  /** Other nodes may forward to it (test/forwarding/edge.ts). */
  readonly isNode?: boolean;
  /** Where the built web page is. */
  readonly webFolder?: string;
  /** The server's log; discarded by default. */
  readonly log?: Log;
}

/** As much as a server wants to find free, its reserves, and what a test stores: many containers have 64 MiB. */
const memoryBytesMin = 2 * limits.store_free_bytes_min + 512 * 1024 * 1024;

/** A memory file system with room, where there is one: for tests that do not need durability. */
export function memoryFolder(): string {
  try {
    accessSync("/dev/shm", constants.W_OK);
    const { bavail, bsize } = statfsSync("/dev/shm");
    return bavail * bsize < memoryBytesMin ? tmpdir() : "/dev/shm";
  } catch {
    return tmpdir();
  }
}

/** @param options.inMemory in a memory file system, where there is one with room */
export function temporaryFolder(t: Teardown, { inMemory = false } = {}): string {
  const folder = mkdtempSync(join(inMemory ? memoryFolder() : tmpdir(), "colloquy-test-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Credentials in the form that clients read. */
export function readZuliprc(file: string): { email: string; key: string; site: string } {
  const fields = Object.fromEntries(
    readFileSync(file, "utf8")
      .split("\n")
      .flatMap((line) => {
        const equals = line.indexOf("=");
        return equals < 0 ? [] : [[line.slice(0, equals), line.slice(equals + 1)]];
      }),
  );
  return { email: fields["email"] ?? "", key: fields["key"] ?? "", site: fields["site"] ?? "" };
}

const owning = { directions: { destinationOf: () => here } } as const;

export async function startTestServer(t: Teardown, options: TestServerOptions = {}): Promise<TestServer> {
  const dataDir = options.dataDir ?? temporaryFolder(t);
  const watchesDisk = options.environment?.["STORE_FREE_BYTES_MIN"] !== undefined;
  if (!watchesDisk && existsSync(dataDir)) makeSpareFiles(dataDir);
  // The tests of realtime/ hold behind another node as well.
  const isThroughEdge = process.env["THROUGH_EDGE"] === "true";
  const config = readConfig({
    PORT: "0",
    DATA_DIR: dataDir,
    RATE_LIMITS: "off",
    LOG_LEVEL: "silent",
    // Tests look into open realms, and may let days pass.
    REALM_IDLE_MS: "none",
    TRANSPORT: process.env["TRANSPORT"],
    ...options.environment,
  });
  const running = await startServer(config, {
    log: options.log ?? createLog(config.logLevel),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    ...(options.webFolder === undefined ? {} : { webFolder: options.webFolder }),
    ...(isThroughEdge || options.isNode === true
      ? { asNode: { key: nodeKey, front: (app) => nodeFront(app, owning) } }
      : {}),
    die(error) {
      throw error;
    },
  });
  const url = isThroughEdge ? await startEdge(t, { destination: () => to(running.url) }) : running.url;
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    try {
      checkLogs(running.host);
    } finally {
      await running.stop();
    }
  };
  t.teardown(stop);
  const { email, key } = readZuliprc(running.zuliprc);
  const owner = new Client(url, { email, key, userId: 2 });
  return {
    running,
    url,
    dataDir,
    owner,
    stop,
    async person(name) {
      const address = `${name.toLowerCase().replaceAll(" ", ".")}@example.com`;
      const password = "correct horse battery";
      const made = await owner.post("/users", { email: address, password, full_name: name });
      if (made.status !== 200) throw new Error(`cannot create ${name}: ${JSON.stringify(made.body)}`);
      const fetched = await owner.anonymous().post("/fetch_api_key", { username: address, password });
      const { api_key: apiKey, user_id: userId } = fetched.body as { api_key: string; user_id: number };
      return new Client(url, { email: address, key: apiKey, userId });
    },
  };
}
