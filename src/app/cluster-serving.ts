/** The parts that a server needs as a node of a cluster: it forwards requests, and organizations come and go. */
import { hostname } from "node:os";
import type { Member, ServedRealms } from "../durability/cluster/member.ts";
import { ForwardingApp } from "../edge/forwarding/forwarding-app.ts";
import type { OpenHubs } from "../edge/realtime/open-hubs.ts";
import type { SocketServer } from "../edge/realtime/socket-server.ts";
import type { WebApp } from "../edge/transport/transport.ts";
import type { Clock } from "../runtime/clock.ts";
import type { RealmIdentity } from "../store/realm-identity.ts";
import type { Config } from "./config.ts";
import type { FaultLog } from "./fault-log.ts";
import type { OpenedRealms } from "./open-realms.ts";
import { atMost } from "./server-drain.ts";
import { readForwardedByProxy, tlsOf } from "./transports.ts";

/** Where other nodes reach this one. @param url where it listens */
function advertisedAddress({ clusterAdvertise, host }: Config, url: string): string {
  if (clusterAdvertise !== null) return clusterAdvertise;
  return host === "0.0.0.0" || host === "::" ? url.replace(/\/\/[^/]*:/, `//${hostname()}:`) : url;
}

/** The secret of the nodes, and what a node has before its app. */
export interface NodeParts {
  readonly key: string;
  readonly front: (app: WebApp) => WebApp;
}

export interface ForwardingContext {
  readonly app: WebApp;
  /** Null: the server is in no cluster. */
  readonly member: Member | null;
  readonly clock: Clock;
  /** Where it listens, once it does. */
  readonly url: () => string;
  readonly faults: FaultLog;
}

/** The app of the server, and the secret by which it knows other nodes. */
export function nodeParts(config: Config, asNode: NodeParts | null, context: ForwardingContext) {
  const { app, member } = context;
  if (member !== null) {
    const front = forwardingApp(config, { ...context, member });
    return { app: front, nodeKey: () => member.key, links: () => front.figures };
  }
  const parts = asNode === null ? { app, nodeKey: null } : { app: asNode.front(app), nodeKey: () => asNode.key };
  return { ...parts, links: null };
}

/** An app that sends requests for organizations of other nodes there. */
function forwardingApp(
  config: Config,
  { app, member, clock, url, faults }: ForwardingContext & { readonly member: Member },
): ForwardingApp {
  return new ForwardingApp({
    app,
    clock,
    reportBug: (error, what) => faults(error, { what }, "forwarding threw"),
    readForwarded: readForwardedByProxy(config),
    isSecure: tlsOf(config) !== null,
    directions: {
      get key() {
        return member.key;
      },
      get ownAddress() {
        return advertisedAddress(config, url());
      },
      destinationOf: (host) => member.destinationOf(host),
      isGone: (instance) => member.isGone(instance),
      onceChanged: (milliseconds) => member.onceChanged(milliseconds),
    },
  });
}

/** The steps of creating an organization in a cluster. */
export function creationInCluster(member: Member | null) {
  if (member === null) return { member: null };
  return {
    member,
    reserve: (identity: RealmIdentity) => member.reserve(identity),
    onceOwned: (id: number) => member.onceOwned(id),
  };
}

interface ServedContext {
  readonly realms: OpenedRealms;
  readonly hubs: OpenHubs;
  readonly sockets: SocketServer;
  readonly clock: Clock;
  readonly createFirst: () => Promise<void>;
}

/** The time that running requests may take when an organization moves to another node. */
const settleMs = 1000;

export interface NodeContext extends ServedContext {
  readonly member: Member;
  /** Where this node listens. */
  readonly url: string;
  readonly hasStopped: () => boolean;
}

/** Resolves when each organization has an owner. */
export function takePart(config: Config, { member, url, hasStopped, ...context }: NodeContext): Promise<void> {
  return member.start(servedRealms(context), advertisedAddress(config, url), hasStopped);
}

/** Organizations that come to this node and go to others. */
function servedRealms({ realms, hubs, sockets, clock, createFirst }: ServedContext): ServedRealms {
  const { host } = realms;
  return {
    createFirst,
    forget: (id) => hubs.forget(id),
    open: (id, journal) => realms.serve(id, journal),
    async close(id) {
      const realm = host.all.find(({ entry }) => entry.id === id)?.realm ?? null;
      if (realm !== null) {
        realms.hubOf(realm).dismissPolls();
        sockets.dismiss(realm);
        await atMost(clock, settleMs, realm.use.onceUnused());
      }
      await realms.release(realm, id);
    },
  };
}
