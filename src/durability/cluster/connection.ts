/**
 * The connection of a node to the NATS servers. The packages are loaded here and nowhere else, on first use: a server
 * that is no member of a cluster loads nothing of them.
 *
 * Whether a NATS server answers at all: it greets each connection with a line that begins with INFO, before TLS.
 */
import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import type { Authenticator, NatsConnection, TlsOptions } from "@nats-io/transport-node";
import { limits } from "../../../schemas/limits.ts";
import type { NatsAddresses } from "./addresses.ts";
import { ClusterSilent, ClusterUnusable } from "./cluster-unusable.ts";

/** @param servers `host:port` of each */
async function isAnyThere(servers: readonly string[]): Promise<boolean> {
  return (await Promise.all(servers.map(greets))).includes(true);
}

function greets(server: string): Promise<boolean> {
  const [, host = "", port = ""] = /^\[?(.*?)\]?:(\d+)$/.exec(server) ?? [];
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port), timeout: limits.cluster_connect_ms_max });
    const end = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once("data", (bytes) => end(bytes.toString("latin1").startsWith("INFO")));
    for (const event of ["error", "timeout", "close"]) socket.once(event, () => end(false));
  });
}

export interface NatsOptions extends NatsAddresses {
  /** The node, as NATS shows it. */
  readonly name: string;
  /** A credentials file of NATS. */
  readonly credentialsFile?: string | null;
  /** How often each server is tried again after the connection was lost; by default for ever. */
  readonly reconnectsMax?: number;
  readonly tls?: { readonly caFile: string | null; readonly certFile: string | null; readonly keyFile: string | null };
}

export interface Nats {
  readonly connection: NatsConnection;
  readonly jetStream: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly isConnected: boolean;
  /** Resolves when the connection is there, at once if it is; also when it was closed permanently. */
  onceConnected(): Promise<void>;
  close(): Promise<void>;
}

/** @throws ClusterUnusable when the servers reject this client; ClusterSilent when none answers */
export async function connectNats(options: NatsOptions): Promise<Nats> {
  const [transport, { jetstream, jetstreamManager }] = await Promise.all([
    import("@nats-io/transport-node"),
    import("@nats-io/jetstream"),
  ]);
  const authenticators: Authenticator[] = [];
  const { credentialsFile = null, user, password, tls } = options;
  if (credentialsFile !== null) {
    authenticators.push(transport.credsAuthenticator(await readable("CLUSTER_NATS_CREDENTIALS_FILE", credentialsFile)));
  }
  if (user !== undefined) authenticators.push(transport.usernamePasswordAuthenticator(user, password));
  const given = {
    servers: [...options.servers],
    name: options.name,
    ...(authenticators.length === 0 ? {} : { authenticator: authenticators }),
    ...(tls === undefined ? {} : { tls: { ...(await readTls(tls)), ...identityCheck(options.servers) } }),
    // With the defaults, a server that hangs is noticed after minutes.
    pingInterval: limits.cluster_ping_ms,
    maxPingOut: limits.cluster_pings_max,
    timeout: limits.cluster_connect_ms_max,
    reconnectTimeWait: limits.cluster_reconnect_ms,
    maxReconnectAttempts: options.reconnectsMax ?? -1,
    noAsyncTraces: true,
  };
  const connection = await triedTwice(options.servers, () => transport.connect(given));
  const connected = new Connected(connection);
  return {
    connection,
    jetStream: jetstream(connection, { timeout: limits.cluster_request_ms_max }),
    manager: await jetstreamManager(connection, { timeout: limits.cluster_request_ms_max, checkAPI: false }),
    get isConnected() {
      return connected.isConnected;
    },
    onceConnected: () => connected.once(),
    close: () => connection.close(),
  };
}

/**
 * A network that is cut passes, and what servers reject does not. They reject this client if one of them was there before
 * an attempt, and is there after it.
 */
async function triedTwice(servers: readonly string[], attempt: () => Promise<NatsConnection>): Promise<NatsConnection> {
  const all = servers.join(", ");
  for (let isSecond = false; ; isSecond = true) {
    const connecting = attempt();
    try {
      return await Promise.race([connecting, tooLate(servers)]);
    } catch (error) {
      void connecting.then(
        (late) => late.close(),
        () => undefined,
      );
      const { message } = error as Error;
      if (!(await isAnyThere(servers))) {
        throw new ClusterSilent(
          `No NATS server of CLUSTER_NATS answers (${all}): ${message}. Start the servers, or correct the addresses.`,
        );
      }
      if (!isSecond) continue;
      throw new ClusterUnusable(
        `No NATS server of CLUSTER_NATS can be used (${all}): ${message}. Correct the credentials and certificates, or give Colloquy other servers.`,
      );
    }
  }
}

/** A server that rejects a certificate does so after the client believes to be connected, and the library tries for ever. */
async function tooLate(servers: readonly string[]): Promise<never> {
  await wait((servers.length + 1) * limits.cluster_connect_ms_max, undefined, { ref: false });
  throw new Error(
    "they end each connection, or do not answer. See their logs: a certificate may be missing or not trusted (CLUSTER_NATS_CERT_FILE)",
  );
}

async function readTls({ caFile, certFile, keyFile }: NonNullable<NatsOptions["tls"]>): Promise<TlsOptions> {
  const text = async (variable: string, file: string) => (await readable(variable, file)).toString();
  return {
    ...(caFile === null ? {} : { ca: await text("CLUSTER_NATS_CA_FILE", caFile) }),
    ...(certFile === null ? {} : { cert: await text("CLUSTER_NATS_CERT_FILE", certFile) }),
    ...(keyFile === null ? {} : { key: await text("CLUSTER_NATS_KEY_FILE", keyFile) }),
  };
}

/**
 * A server is what it says if its certificate is valid for one of the addresses that the operator gave. The library
 * compares with `localhost` when an address is a number, and servers tell each other's addresses by numbers.
 */
function identityCheck(servers: readonly string[]) {
  const hosts = servers.map((server) => server.replace(/:\d+$/, "").replace(/^\[|\]$/g, ""));
  return {
    checkServerIdentity(_host: string, certificate: PeerCertificate): Error | undefined {
      const faults = hosts.map((host) => checkServerIdentity(host, certificate));
      return faults.every((fault) => fault !== undefined) ? faults[0] : undefined;
    },
  };
}

/** @throws ClusterUnusable */
function readable(variable: string, file: string): Promise<Buffer> {
  return readFile(file).catch((error: Error) => {
    throw new ClusterUnusable(`${variable} cannot be read: ${error.message}`);
  });
}

/** The client keeps what is published while it is not connected, without a bound: so nothing is published then. */
class Connected {
  isConnected = true;
  #waiting: (() => void)[] = [];

  constructor(connection: NatsConnection) {
    void this.#watch(connection);
  }

  once(): Promise<void> {
    return this.isConnected ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === "disconnect") this.isConnected = false;
      else if (type === "reconnect") this.#resume();
    }
    this.#resume();
  }

  #resume(): void {
    this.isConnected = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
