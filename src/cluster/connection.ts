/**
 * The connection of a node to the NATS servers. The packages are loaded here and nowhere else, on first use: a server
 * that is no member of a cluster loads nothing of them.
 */
import { readFile } from "node:fs/promises";
import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import type { Authenticator, NatsConnection, TlsOptions } from "@nats-io/transport-node";
import { limits } from "../../schemas/limits.ts";
import type { NatsAddresses } from "./addresses.ts";
import { ClusterUnusable } from "./cluster-unusable.ts";

export interface NatsOptions extends NatsAddresses {
  /** The node, as NATS shows it. */
  readonly name: string;
  /** A credentials file of NATS. */
  readonly credentialsFile?: string | null;
  readonly tls?: { readonly caFile: string | null; readonly certFile: string | null; readonly keyFile: string | null };
}

export interface Nats {
  readonly connection: NatsConnection;
  readonly jetStream: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly isConnected: boolean;
  /** Resolves when the connection is there, at once if it is; also when it was closed for good. */
  onceConnected(): Promise<void>;
  close(): Promise<void>;
}

/** @throws ClusterUnusable when no server answers, or the credentials are rejected */
export async function connectNats(options: NatsOptions): Promise<Nats> {
  const [transport, { jetstream, jetstreamManager }] = await Promise.all([
    import("@nats-io/transport-node"),
    import("@nats-io/jetstream"),
  ]);
  const authenticators: Authenticator[] = [];
  const { credentialsFile = null, user, password, tls } = options;
  if (credentialsFile !== null) {
    const file = await readFile(credentialsFile).catch((error: Error) => {
      throw new ClusterUnusable(`CLUSTER_NATS_CREDENTIALS_FILE cannot be read: ${error.message}`);
    });
    authenticators.push(transport.credsAuthenticator(file));
  }
  if (user !== undefined) authenticators.push(transport.usernamePasswordAuthenticator(user, password));
  const connection = await transport
    .connect({
      servers: [...options.servers],
      name: options.name,
      ...(authenticators.length === 0 ? {} : { authenticator: authenticators }),
      ...(tls === undefined ? {} : { tls: tlsOptions(tls) }),
      // With the defaults, a server that stands still is noticed after minutes.
      pingInterval: limits.cluster_ping_ms,
      maxPingOut: limits.cluster_pings_max,
      timeout: limits.cluster_connect_ms_max,
      reconnectTimeWait: limits.cluster_reconnect_ms,
      maxReconnectAttempts: -1,
      noAsyncTraces: true,
    })
    .catch((error: Error) => {
      throw new ClusterUnusable(
        `No NATS server of CLUSTER_NATS can be used (${options.servers.join(", ")}): ${error.message}. Start the servers, or correct the addresses and the credentials.`,
      );
    });
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

function tlsOptions({ caFile, certFile, keyFile }: NonNullable<NatsOptions["tls"]>): TlsOptions {
  return {
    ...(caFile === null ? {} : { caFile }),
    ...(certFile === null ? {} : { certFile }),
    ...(keyFile === null ? {} : { keyFile }),
  };
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
