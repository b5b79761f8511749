/**
 * The server, wired together (composition root): everything that knows of everything else is here. `main.ts` runs it as a
 * process, tests run it on port 0.
 */

import { lookup } from "node:dns/promises";
import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { featureLevel, serverVersion } from "../schemas/server.ts";
import { BadConfig, type Config } from "./config.ts";
import { composeMessage } from "./domain/message-content.ts";
import { messageTerms, senderTerms, topicTerms } from "./domain/search/terms.ts";
import { createFaultLog } from "./fault-log.ts";
import { foundRealm } from "./founding.ts";
import { verifyKey } from "./http/authentication.ts";
import { createApp, type WebApp } from "./http/server.ts";
import { reportLinkifiers } from "./linkifier-check.ts";
import type { Log } from "./log.ts";
import { siteOf } from "./mail-config.ts";
import { Courier } from "./outbound/mail/courier.ts";
import { outboxTransport } from "./outbound/mail/outbox.ts";
import { PostOffice } from "./outbound/mail/post-office.ts";
import { smtpTransport } from "./outbound/mail/smtp.ts";
import { WebhookCourier } from "./outbound/webhooks/courier.ts";
import { WebhookDispatch } from "./outbound/webhooks/dispatch.ts";
import { webhookRequest } from "./queries/webhooks.ts";
import { Hub } from "./realtime/hub.ts";
import { type Clock, systemClock } from "./runtime/clock.ts";
import { watchData } from "./runtime/data-watch.ts";
import type { Alarm } from "./runtime/dispatcher.ts";
import { guardedClock } from "./runtime/guarded-clock.ts";
import type { Realm } from "./runtime/realm.ts";
import { RealmHost } from "./runtime/realm-host.ts";
import { SearchIndexer, type SearchTerms } from "./runtime/search-indexer.ts";
import { DiskSpace } from "./store/disk-space.ts";
import { openDataFolder } from "./store/open-data-folder.ts";
import type { RealmEntry, RootStore } from "./store/root.ts";
import { createTransports, tlsOf } from "./transports.ts";
import { followAddress, readZuliprc, writeZuliprc } from "./zuliprc.ts";

const searchTerms: SearchTerms = { ofMessage: messageTerms, ofTopic: topicTerms, everyMessage: senderTerms };

export class PortInUse extends Error {
  override readonly name = "PortInUse";
}

/** A start writes a few pages, and there is not even room for them. */
export class DiskFull extends Error {
  override readonly name = "DiskFull";
}

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  readonly zuliprc: string;
  /** Whether its key opens the door still: keys and addresses change, the file does not follow. */
  readonly isZuliprcGood: boolean;
  /** Whether there is room for changes (M5). */
  readonly acceptsWrites: boolean;
  readonly host: RealmHost;
  /** For white-box looks of tests, through their one doorway. */
  readonly hubOf: (realm: Realm) => Hub;
  /** Finishes or refuses what is in flight, tells sockets to come back, flushes, releases the data folder. */
  stop(): Promise<void>;
}

export interface ServerTools {
  readonly log: Log;
  readonly clock?: Clock;
  /** The end of the process when a commit failed (M5), or when its data folder is not its own any more. Must not return. */
  readonly die: (error: unknown) => never;
}

/** @throws BadConfig, DataFolderInUse, DataFolderDamaged, DamagedData, StoreTooNew, PortInUse, DiskFull: each with one clear line */
export async function startServer(config: Config, tools: ServerTools): Promise<RunningServer> {
  const clock = tools.clock ?? systemClock;
  const dataDir = resolve(config.dataDir);
  const app = createApp(tlsOf(config));
  if (app === null) throw new BadConfig("TLS_KEY_FILE and TLS_CERT_FILE do not hold a key and its certificate");
  await checkHost(config.host);
  makeDataDir(dataDir);
  // Before the first write: on a full disk it makes room for a start.
  const hubs = new Map<Realm, Hub>();
  const space = spaceOf(config, dataDir, clock, hubs);
  const noRoom = () =>
    new DiskFull(`the disk of DATA_DIR=${JSON.stringify(dataDir)} is full: there is not even room for a start`);
  // LMDB's lock is written through memory: where there is no room for a new one, the process would be ended by a signal.
  if (space.isFull && !existsSync(join(dataDir, "root", "lock.mdb"))) throw noRoom();
  try {
    const root = await openDataFolder(dataDir, (message) => tools.log.warn(message));
    return await serveFrom(root, config, tools, { app, clock, dataDir, space, hubs });
  } catch (error) {
    throw space.isFull && isOfStore(error) ? noRoom() : error;
  }
}

async function serveFrom(root: RootStore, config: Config, tools: ServerTools, ground: Ground): Promise<RunningServer> {
  try {
    return await serve(config, tools, { ...ground, root });
  } catch (error) {
    await root.close();
    throw error;
  }
}

/** LMDB says EIO where the disk is full (pitfalls 1.3); our own refusals say more than that. */
function isOfStore(error: unknown): boolean {
  return error instanceof Error && error.name === "Error";
}

function spaceOf(config: Config, folder: string, clock: Clock, hubs: ReadonlyMap<Realm, Hub>): DiskSpace {
  return new DiskSpace({
    folder,
    freeBytesMin: config.storeFreeBytesMin,
    storeBytesMax: config.storeBytesMax,
    monotonic: () => clock.monotonic(),
    fileBytes: () => [...hubs.keys()].reduce((sum, realm) => sum + realm.files.bytes, 0),
  });
}

/** @throws BadConfig when the name means no address, or one that is not of this machine */
async function checkHost(host: string): Promise<void> {
  const cannot = (why: string) => new BadConfig(`HOST=${JSON.stringify(host)} cannot be used: ${why}`);
  const found = await lookup(host).catch(() => null);
  if (found === null) throw cannot("it names no address");
  if (!(await isOwnAddress(found.address))) throw cannot(`${found.address} is not an address of this machine`);
}

/** Asked of the system: a socket that is bound to it, on any port. */
function isOwnAddress(address: string): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once("error", () => resolve(false));
    probe.listen(0, address, () => probe.close(() => resolve(true)));
  });
}

/** @throws BadConfig when the folder cannot be made or written */
function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new BadConfig(`DATA_DIR=${JSON.stringify(dataDir)} cannot be used: ${reason}`);
  }
}

/** What there is before the store is opened. */
interface Ground {
  readonly app: WebApp;
  readonly clock: Clock;
  readonly dataDir: string;
  readonly space: DiskSpace;
  readonly hubs: Map<Realm, Hub>;
}

interface Foundation extends Ground {
  readonly root: RootStore;
}

async function serve(config: Config, tools: ServerTools, foundation: Foundation): Promise<RunningServer> {
  const { dataDir, root, space, hubs } = foundation;
  const { log } = tools;
  const faults = createFaultLog(log);
  const clock = guardedClock(foundation.clock, (error) => faults(error, {}, "work in the background threw"));
  // The data folder is ours: the ballast is laid.
  space.acceptsWrites();
  const alarm: Alarm = {
    bug: (error, command) => faults(error, { to: command?.to, type: command?.type }, "a command threw"),
    fatal: tools.die,
    warn: (line) => log.warn(line),
  };
  const zuliprc = join(dataDir, "zuliprc");
  if (root.realms().length === 0) await foundFirst(config, { ...foundation, alarm }, zuliprc);
  const { postOffice, webhooks } = createOutbound(config, { clock, dataDir, log });
  const startedAt = clock.now();
  let { port } = config;
  const entries = new Map<Realm, RealmEntry>();
  const siteOfRealm = (realm: Realm) =>
    siteOf(config.siteUrl ?? siteUrl(config, port), entries.get(realm) as RealmEntry);
  const host = new RealmHost({
    dataDir,
    root,
    owner: root.token,
    clock,
    alarm,
    acceptsWrites: () => space.acceptsWrites(),
    onOpen(realm, entry) {
      const hub = new Hub(realm, {
        limitsPresence: config.presenceLimitedToAccessible,
        reportBug: (error) => alarm.bug(error, null),
      });
      hubs.set(realm, hub);
      hub.announceRestart(restartBody(startedAt));
      new WebhookCourier(realm, entry.id, webhooks);
      entries.set(realm, entry);
      new Courier(realm, entry.id, postOffice, () => siteOfRealm(realm));
      reportLinkifiers(realm.view.linkifiers, alarm.warn);
      new SearchIndexer(realm, { clock, alarm, terms: searchTerms });
    },
  });
  const hubOf = (realm: Realm): Hub => hubs.get(realm) as Hub;
  host.openDue();
  const endWatch = watchData(clock, () => [root, ...host.openRealms], tools.die);

  const { http, sockets } = createTransports(config, {
    app: foundation.app,
    clock,
    faults,
    host,
    hubOf,
    startedAt,
    siteOf: siteOfRealm,
  });
  const listened = await http.listen(config.host, config.port);
  if (listened === null) {
    endWatch();
    await host.close();
    throw new PortInUse(`port ${config.port} on ${config.host} cannot be had: is something else listening there?`);
  }
  port = listened;
  const url = siteUrl(config, port);
  noteAddress(zuliprc, url, log);
  return {
    url,
    port,
    zuliprc,
    isZuliprcGood: opensDoor(zuliprc, host.realmOf("")),
    acceptsWrites: space.acceptsWrites(),
    host,
    hubOf,
    async stop() {
      const quiet = http.drain();
      for (const hub of hubs.values()) hub.dismissPolls();
      const delivered = Promise.all([postOffice.close(), webhooks.close()]);
      await sockets.drain();
      await atMost(clock, drainMs, quiet);
      await delivered;
      endWatch();
      await host.close();
      http.close();
      root.unlock();
      await root.close();
    },
  };
}

interface OutboundTools {
  readonly clock: Clock;
  readonly dataDir: string;
  readonly log: Log;
}

/** Mails and webhooks; each organization's couriers hand their work to these. */
function createOutbound(config: Config, { clock, dataDir, log }: OutboundTools) {
  const { smtpServer, mailSender: sender } = config;
  const transport = smtpServer === null ? outboxTransport(join(dataDir, "outbox")) : smtpTransport(smtpServer);
  const webhooks = new WebhookDispatch({
    clock,
    log,
    mayBePrivate: config.webhooksMayBePrivate,
    requestOf: webhookRequest,
    compose: composeMessage,
  });
  return { postOffice: new PostOffice({ transport, sender, clock, log }), webhooks };
}

/** The body of the `restart` event that clients get whose queue outlived a restart. */
function restartBody(startedAt: number) {
  return {
    zulip_version: serverVersion,
    zulip_merge_base: serverVersion,
    zulip_feature_level: featureLevel,
    server_generation: Math.floor(startedAt / 1000),
  };
}

/** A file that still says the address of before is no reason not to serve: the disk may be full. */
function noteAddress(zuliprc: string, url: string, log: Log): void {
  try {
    followAddress(zuliprc, url);
  } catch (error) {
    log.warn({ err: error }, "zuliprc does not follow the server's address");
  }
}

function opensDoor(file: string, realm: Realm): boolean {
  try {
    const { email, key } = readZuliprc(file);
    return "caller" in verifyKey(realm.view, email, key);
  } catch {
    return false;
  }
}

/** How long answers in flight are waited for at shutdown. */
const drainMs = 2000;

/** Waits for work, but no longer than that. */
function atMost(clock: Clock, milliseconds: number, work: Promise<void>): Promise<void> {
  return new Promise((done) => {
    const cancel = clock.after(milliseconds, done);
    void work.then(() => {
      cancel();
      done();
    });
  });
}

function siteUrl(config: Config, port: number): string {
  const scheme = config.tlsKeyFile === null ? "http" : "https";
  return `${scheme}://${config.host.includes(":") ? `[${config.host}]` : config.host}:${port}`;
}

/** The owner's key is in zuliprc when this resolves. */
async function foundFirst(config: Config, tools: Foundation & { alarm: Alarm }, zuliprc: string): Promise<void> {
  const { ownerEmail, ownerPassword, realmName } = config;
  await foundRealm({ label: "", hosts: [], name: realmName, ownerEmail, ownerPassword }, tools, (key) => {
    writeZuliprc(zuliprc, { email: ownerEmail, key, site: siteUrl(config, config.port) });
  });
}

/** Whether a folder holds a store already: the CLI asks before it makes one. */
export function hasStore(dataDir: string): boolean {
  return existsSync(join(resolve(dataDir), "root"));
}
