/**
 * Wires the server together (composition root): everything that knows all other parts is here. `main.ts` runs it as a
 * process, tests run it on port 0.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { openSetup } from "../../actors/rules/setup.ts";
import { errorBody, refuse } from "../../schemas/errors.ts";
import type { Member } from "../durability/cluster/member.ts";
import type { Replication } from "../durability/cluster/replication.ts";
import { JournalLost } from "../durability/journal/journal.ts";
import { prepareDurability } from "../durability/journal/open-durability.ts";
import type { AccessLine } from "../edge/http/access-log.ts";
import { adminFolder, builtPageFolder, loadWebPage, type WebPage } from "../edge/pages/web-page.ts";
import type { Hub } from "../edge/realtime/hub.ts";
import { OpenHubs } from "../edge/realtime/open-hubs.ts";
import { type LoadedTransport, loadTransport, NoNativeTransport } from "../edge/transport/load.ts";
import type { RenewedCertificate, TransportKind, WebApp } from "../edge/transport/transport.ts";
import type { Log } from "../log/log.ts";
import { Meters } from "../metrics/meters.ts";
import { BackupSchedule, runBackupProcess } from "../operate/backup-schedule.ts";
import { createRealm } from "../operate/realm-creation.ts";
import { followAddress, followOwner, readZuliprc, writeZuliprc } from "../operate/zuliprc.ts";
import { hashApiKey, verifyKey } from "../operations/identity/authentication.ts";
import { setupLink } from "../operations/links.ts";
import { type Clock, guardedClock, systemClock } from "../runtime/clock.ts";
import { watchData } from "../runtime/data-watch.ts";
import type { Alarm } from "../runtime/dispatcher.ts";
import type { Realm } from "../runtime/realm.ts";
import type { RealmHost } from "../runtime/realm-host.ts";
import { DiskSpace } from "../store/disk-space.ts";
import { PageChecks } from "../store/page-checks.ts";
import type { RootStore } from "../store/root.ts";
import { Administration, adminPageOf } from "./administration.ts";
import { clusterData, clusterFigures } from "./cluster-data.ts";
import { joinCluster, leaveCluster } from "./cluster-membership.ts";
import { creationInCluster, type NodeParts, nodeParts, takePart } from "./cluster-serving.ts";
import { BadConfig, type Config } from "./config.ts";
import { createFaultLog, type FaultLog } from "./fault-log.ts";
import { openRealms } from "./open-realms.ts";
import { Scope } from "./scope.ts";
import { servedPorts } from "./served-ports.ts";
import { drain, type StopSteps } from "./server-drain.ts";
import { checkHost, makeDataDir, openWhenReleased } from "./start-checks.ts";
import { connectionAdmission, createTransports, renewCertificate, tlsOf } from "./transports.ts";

export class PortInUse extends Error {
  override readonly name = "PortInUse";
}

/** The disk has no space for the few pages that a start writes. */
export class DiskFull extends Error {
  override readonly name = "DiskFull";
}

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  readonly zuliprc: string;
  /** Where the first organization is set up in a browser; null: it is set up, or another node serves it. */
  readonly setupLink: string | null;
  /**
   * Whether the credentials in `zuliprc` are still valid. The file is not rewritten when the key is revoked. Null:
   * another node of the cluster serves the organization.
   */
  readonly isZuliprcGood: boolean | null;
  /** Whether there is space for changes (M5). */
  readonly acceptsWrites: boolean;
  readonly transport: TransportKind;
  readonly host: RealmHost;
  /** For white-box checks of tests, through a single helper. */
  readonly hubOf: (realm: Realm) => Hub;
  /**
   * Reads the key and the certificate again, for connections to come; null: the server does not speak TLS.
   */
  renewCertificate(): RenewedCertificate | null;
  /**
   * Finishes or rejects pending requests, closes sockets so that their clients reconnect, flushes, and releases the
   * data folder.
   */
  stop(steps?: StopSteps): Promise<void>;
}

export interface ServerTools {
  readonly log: Log;
  readonly clock?: Clock;
  /** The folder of the built web page, if it is elsewhere than the build leaves it. */
  readonly webFolder?: string;
  /** Ends the process when a write to the journal or a store failed (M5) or the data folder was lost to another owner. Must not return. */
  readonly die: (error: unknown) => never;
  /** Whether the operator has asked the process to stop, while it waits in a cluster or for the data folder. */
  readonly hasStopped?: () => boolean;
  /** Makes it a node that others forward to, without a cluster. */
  readonly asNode?: NodeParts;
  /** It is prepared and waits for the data folder. */
  readonly onWaiting?: (why: string) => void;
}

/**
 * @throws BadConfig, BadWebPage, DataFolderInUse, DataFolderDamaged, DamagedData, UnknownFormat, PortInUse, DiskFull,
 *   StoppedWaiting: each with a message of one line
 */
export async function startServer(config: Config, tools: ServerTools): Promise<RunningServer> {
  const [clock, dataDir] = [tools.clock ?? systemClock, resolve(config.dataDir)];
  const { app, kind } = await createApp(config, tools.log, clock);
  await checkHost(config.host);
  const webFolder = tools.webFolder ?? builtPageFolder;
  const pages = { webPage: loadWebPage(webFolder), adminPage: loadWebPage(join(webFolder, adminFolder)) };
  makeDataDir(dataDir);
  if (config.clusterNats === null) prepareDurability();
  // Created before the first write: on a full disk it frees space for a start.
  const hubs = new OpenHubs();
  const space = spaceOf(config, dataDir, clock, hubs);
  const noRoom = () =>
    new DiskFull(`the disk of DATA_DIR=${JSON.stringify(dataDir)} is full: there is not even space to start`);
  // LMDB writes its lock through mapped memory: without space for a new lock file, a signal would kill the process.
  if (space.isFull && !existsSync(join(dataDir, "root", "lock.mdb"))) throw noRoom();
  const scope = new Scope();
  try {
    return await serve(
      config,
      tools,
      await openFolder(config, tools, { scope, app, kind, clock, dataDir, space, hubs, ...pages }),
    );
  } catch (error) {
    // A fault of closing is a consequence of this one.
    await scope.close().catch(() => undefined);
    throw space.isFull && isOfStore(error) ? noRoom() : error;
  }
}

/** @throws BadConfig when the transport cannot be loaded, or the key and the certificate cannot be used */
async function createApp(config: Config, log: Log, clock: Clock): Promise<{ app: WebApp; kind: TransportKind }> {
  const { transport, why, isFallback } = await load(config);
  log[isFallback ? "warn" : "info"](`transport ${transport.kind}: ${why}`);
  const malformedBody = JSON.stringify(errorBody(refuse.badRequest("Malformed HTTP request")));
  const options = { tls: tlsOf(config), timers: systemClock, admits: connectionAdmission(log, clock) };
  const app = transport.createApp({ ...options, malformedBody });
  if (app === null) throw new BadConfig("TLS_KEY_FILE and TLS_CERT_FILE do not contain a key and its certificate");
  return { app, kind: transport.kind };
}

async function load({ transport }: Config): Promise<LoadedTransport> {
  try {
    return await loadTransport(transport);
  } catch (error) {
    if (error instanceof NoNativeTransport) throw new BadConfig(`TRANSPORT="native" cannot be used: ${error.message}`);
    throw error;
  }
}

/** LMDB reports EIO when the disk is full (pitfalls 1.3); our own errors are more specific. */
function isOfStore(error: unknown): boolean {
  return error instanceof JournalLost || (error instanceof Error && error.name === "Error");
}

function spaceOf(config: Config, folder: string, clock: Clock, hubs: OpenHubs): DiskSpace {
  return new DiskSpace({
    folder,
    freeBytesMin: config.storeFreeBytesMin,
    storeBytesMax: config.storeBytesMax,
    monotonic: () => clock.monotonic(),
    fileBytes: () => hubs.fileBytes,
  });
}

/** The parts that a start has prepared before it opens the store. */
interface StartContext {
  readonly scope: Scope;
  readonly app: WebApp;
  readonly kind: TransportKind;
  readonly clock: Clock;
  readonly dataDir: string;
  readonly space: DiskSpace;
  readonly hubs: OpenHubs;
  readonly webPage: WebPage | null;
  readonly adminPage: WebPage | null;
}

/** The data folder, and the node's place in a cluster. */
interface OpenedFolder extends StartContext {
  readonly root: RootStore;
  readonly faults: FaultLog;
  readonly administration: Administration;
  readonly pageChecks: PageChecks;
  readonly member: Member | null;
  readonly data: Replication | null;
  /** The steps of a stop in order; null while the start may still fail. */
  readonly stop: { steps: StopSteps | null };
}

async function openFolder(config: Config, tools: ServerTools, context: StartContext): Promise<OpenedFolder> {
  const { scope, dataDir, space } = context;
  const { log } = tools;
  const stop: OpenedFolder["stop"] = { steps: null };
  const seconds = config.waitForLockSeconds;
  const root = await openWhenReleased(dataDir, { ...tools, clock: context.clock, seconds });
  scope.onClose(async () => {
    stop.steps?.beforeRelease?.();
    if (stop.steps !== null) root.unlock();
    await root.close();
  });
  scope.onClose(() => space.close());
  const faults = createFaultLog(log);
  const clock = guardedClock(context.clock, (error) => faults(error, {}, "background work threw"));
  const administration = await Administration.open({
    address: config.adminAddress,
    hosts: config.adminHosts,
    dataDir,
    clock,
    log,
    page: adminPageOf(context.adminPage),
    reportBug: (error) => faults(error, {}, "administration threw"),
  });
  scope.onClose(() => administration.close());
  const pageChecks = new PageChecks(dataDir);
  let member: Member | null = null;
  const data = await clusterData(config, { dataDir, clock, log, owns: (id) => member?.owns(id) ?? false });
  member = await joinCluster(config, {
    dataDir,
    root,
    clock,
    checkStore: (id) => pageChecks.check(root.realms().find((entry) => entry.id === id) ?? { id, dueHint: 0 }, false),
    warn: (line) => log.warn(line),
    fatal: tools.die,
  });
  scope.onClose(() => (stop.steps === null ? member?.leave() : leaveCluster(member, dataDir)));
  scope.onClose(() => data?.close());
  await data?.start();
  return { ...context, clock, root, faults, administration, pageChecks, member, data, stop };
}

async function serve(config: Config, tools: ServerTools, context: OpenedFolder): Promise<RunningServer> {
  const { scope, dataDir, root, space, hubs, clock, faults, administration, member } = context;
  const { log } = tools;
  // Begins to write the reservedSpace, now that this process owns the data folder.
  space.acceptsWrites();
  const alarm = alarmOf(tools, faults);
  const zuliprc = zuliprcOf(dataDir, "");
  if (member === null && root.realms().length === 0) await createFirstRealm(config, { ...context, alarm }, zuliprc);
  const meters = new Meters();
  const startedAt = clock.now();
  let { port } = config;
  const url = () => siteUrl(config, port);
  let listening: { close(): void } | null = null;
  // Requests that arrive while the organizations close are answered.
  scope.onClose(() => listening?.close());
  const onOpened = (realm: Realm) => noteOwner(zuliprcOf(dataDir, realm.view.realm.label), realm, log);
  const realms = await openRealms(config, { ...context, alarm, log, meters, startedAt, url, onOpened });
  scope.onClose(() => realms.close());
  const { host, hubOf, siteOf, durability } = realms;
  const watched = () => [root, durability, ...host.openRealms];
  scope.onClose(watchData(clock, watched, tools.die, () => administration.eachSecond()));
  const { http, sockets, requests, unsent, links } = createTransports(config, {
    ...nodeParts(config, tools.asNode ?? null, { ...context, url }),
    clock,
    faults,
    host,
    hubOf,
    startedAt,
    siteOf,
    webPage: context.webPage,
    onSetUp: onOpened,
    onFailedLogin(by, address) {
      meters.failedLogins.add(by);
      log.warn({ address }, `failed login: wrong ${by}`);
    },
    onFailedRequest: (line) => log.error(line, "a request was answered with 500: its fault was logged just before"),
    ...(config.logsAccess ? { onRequest: accessWriter(log) } : {}),
  });
  const listened = await http.listen(config.host, config.port);
  if (listened === null) {
    throw new PortInUse(`port ${config.port} on ${config.host} is not available: is another program listening there?`);
  }
  listening = http;
  port = listened;
  noteAddress(zuliprc, url(), log);
  const { kind: transport } = context;
  const acceptsWrites = () => space.acceptsWrites();
  const requestsPending = () => http.pending;
  const cluster = clusterFigures(member, context.data, links);
  const parts = { meters, requests, requestsPending, host, hubs, sockets, unsent, durability, acceptsWrites, cluster };
  const about = { dataDir, transport, startedAt };
  const ports = servedPorts({ ...parts, ...about, ...creationInCluster(member), root, alarm, clock, config, url });
  scope.onClose(startBackups(config, { clock, dataDir, log }));
  if (member !== null) {
    administration.standby();
    const createFirst = () => createFirstRealm(config, { ...context, alarm }, zuliprc, port);
    const hasStopped = tools.hasStopped ?? (() => false);
    await takePart(config, { member, realms, hubs, sockets, clock, createFirst, url: url(), hasStopped });
  }
  administration.serving({ ...parts, ...about }, ports);
  const first = member === null || member.destinationOf("").kind === "here" ? host.realmOf("") : null;
  return {
    url: url(),
    port,
    zuliprc,
    isZuliprcGood: first === null ? null : hasValidCredentials(zuliprc, first),
    setupLink: first === null ? null : setupLinkOf(first, siteOf(first)),
    acceptsWrites: space.acceptsWrites(),
    transport,
    host,
    hubOf,
    renewCertificate: () => renewCertificate(config, context.app),
    async stop(steps = {}) {
      context.stop.steps = steps;
      administration.draining();
      await member?.handOverAll();
      await drain({ http, hubs, sockets, realms, clock });
      steps.onDrained?.();
      await scope.close();
    },
  };
}

/** Lines of the access log, whatever LOG_LEVEL says. */
function accessWriter(log: Log) {
  const access = log.child({}, { level: "info" });
  return (line: AccessLine) => access.info(line, "request");
}

/** @returns ends the schedule; a running backup continues */
function startBackups(
  { backupDir, backupSchedule, backupKeep }: Config,
  { clock, dataDir, log }: { readonly clock: Clock; readonly dataDir: string; readonly log: Log },
): () => void {
  if (backupDir === null || backupSchedule === null) return () => undefined;
  const environment = { DATA_DIR: dataDir, BACKUP_DIR: resolve(backupDir), BACKUP_KEEP: String(backupKeep) };
  const run = () => runBackupProcess({ environment, log });
  const schedule = new BackupSchedule({ pattern: backupSchedule, clock, run });
  return () => schedule.end();
}

function alarmOf({ log, die }: ServerTools, faults: FaultLog): Alarm {
  return {
    bug: (error, command) => faults(error, { to: command?.to, type: command?.type }, "a command threw"),
    fatal: die,
    warn: (line) => log.warn(line),
  };
}

/** A file with the old address must not prevent serving: the disk may be full. */
function noteAddress(zuliprc: string, url: string, log: Log): void {
  try {
    followAddress(zuliprc, url);
  } catch (error) {
    log.warn({ err: error }, "could not update the server's address in zuliprc");
  }
}

/** The file with the credentials of an organization's owner. */
function zuliprcOf(dataDir: string, label: string): string {
  return join(dataDir, label === "" ? "zuliprc" : `zuliprc.${label}`);
}

function noteOwner(zuliprc: string, { view }: Realm, log: Log): void {
  try {
    followOwner(zuliprc, (key) => view.users.get(view.apiKey(hashApiKey(key))?.userId ?? 0)?.email);
  } catch (error) {
    log.warn({ err: error }, "could not update the owner's address in zuliprc");
  }
}

/** @returns null if it is set up */
function setupLinkOf({ view }: Realm, site: string): string | null {
  const open = openSetup(view);
  return open === null ? null : setupLink(site, open.secret);
}

function hasValidCredentials(file: string, realm: Realm): boolean {
  try {
    const { email, key } = readZuliprc(file);
    return "caller" in verifyKey(realm.view, email, key);
  } catch {
    return false;
  }
}

function siteUrl(config: Config, port: number): string {
  const scheme = config.tlsKeyFile === null ? "http" : "https";
  return `${scheme}://${config.host.includes(":") ? `[${config.host}]` : config.host}:${port}`;
}

/** When this resolves, the owner's key is in zuliprc. */
async function createFirstRealm(
  config: Config,
  tools: Pick<OpenedFolder, "root" | "clock" | "dataDir" | "space"> & { alarm: Alarm },
  zuliprc: string,
  port = config.port,
): Promise<void> {
  const { ownerEmail, ownerPassword, realmName } = config;
  await createRealm({ label: "", hosts: [], name: realmName, ownerEmail, ownerPassword }, tools, (key) => {
    writeZuliprc(zuliprc, { email: ownerEmail, key, site: siteUrl(config, port) });
  });
}

/** Whether a folder already has a store; the CLI checks this before it creates one. */
export function hasStore(dataDir: string): boolean {
  return existsSync(join(resolve(dataDir), "root"));
}
