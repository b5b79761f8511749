/** The process (start-up contract): configuration, server, console lines, signals, exit codes. */
import { rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { limits } from "../../schemas/limits.ts";
import { programVersion } from "../../schemas/server.ts";
import { ClusterSilent, ClusterUnusable } from "../durability/cluster/cluster-unusable.ts";
import { JournalDamaged, JournalLost } from "../durability/journal/journal.ts";
import { writeGate } from "../durability/threads/write-hold.ts";
import { BadWebPage } from "../edge/pages/web-page.ts";
import { LineWriter } from "../log/line-writer.ts";
import { createLog, type Log, LogFile } from "../log/log.ts";
import { askSystem } from "../metrics/instruments.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";
import { commandLine } from "../store/command-line.ts";
import { DamagedData } from "../store/damage.ts";
import { UnknownFormat } from "../store/migrations.ts";
import { DataFolderDamaged } from "../store/open-data-folder.ts";
import { OwnershipLost } from "../store/path-guard.ts";
import { DataFolderInUse } from "../store/root.ts";
import { blockedPortWarnings } from "./browser-ports.ts";
import { BadConfig, type Config, describeConfig, readConfig } from "./config.ts";
import { withConfigFile } from "./config-file.ts";
import { serveHelp } from "./config-help.ts";
import { DiskFull, PortInUse, type RunningServer, startServer } from "./server.ts";
import { StoppedWaiting } from "./start-checks.ts";

const nanosecondsPerMs = 1e6;
const resolutionMs = 5;

/** Event-loop delay, memory and CPU of this process on demand: SIGUSR2 writes them to METRICS_FILE and resets them. */
function offerMetrics(file: string): void {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  process.on("SIGUSR2", () => {
    const cpu = process.cpuUsage();
    const metrics = {
      event_loop_delay_ms: {
        p50: delay.percentile(50) / nanosecondsPerMs - resolutionMs,
        p99: delay.percentile(99) / nanosecondsPerMs - resolutionMs,
        max: delay.max / nanosecondsPerMs - resolutionMs,
      },
      rss_bytes: askSystem(() => process.memoryUsage.rss(), null),
      cpu_user_s: cpu.user / 1e6,
      cpu_system_s: cpu.system / 1e6,
    };
    delay.reset();
    // A full disk, or no descriptor, must not end the process.
    askSystem(() => writeFileSync(file, `${JSON.stringify(metrics)}\n`), undefined);
  });
}

/** `npm_lifecycle_event` of `npm start` and of npx. */
const events: ReadonlySet<string | undefined> = new Set(["start", "npx"]);

interface ParentWatch {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly after: Clock["after"];
  /** Called once. */
  readonly onEnded: () => void;
}

/**
 * Under npm, the server stops when its parent ends. npm passes SIGTERM and SIGINT on, but no other signal, and to the
 * shell in between that runs `npx colloquy`; a server that continues without them would keep its port and its data
 * folder.
 */
function watchParent({ environment, after, onEnded }: ParentWatch): void {
  const parent = process.ppid;
  if (!events.has(environment["npm_lifecycle_event"]) || parent === 1) return;
  const look = () => {
    if (process.ppid === parent) after(limits.parent_check_ms, look);
    else onEnded();
  };
  look();
}

/** sysexits.h: the operator must fix it; temporary failure; everything else. */
const exitCodes = { badConfig: 78, unavailable: 75, failure: 1 } as const;

const output = new LineWriter(1, (count) => `(${count} lines could not be written)\n`);
/** A later start may succeed. */
const unavailable = [DataFolderInUse, PortInUse, DiskFull, OwnershipLost, JournalLost, ClusterSilent] as const;
/** Only the operator can mend it: another start would end in the same way. */
const broken = [
  BadConfig,
  DamagedData,
  DataFolderDamaged,
  JournalDamaged,
  UnknownFormat,
  ClusterUnusable,
  BadWebPage,
] as const;

function say(line: string): void {
  output.write(`${line}\n`);
}

function complain(error: unknown): never {
  if (error instanceof StoppedWaiting) exit(0);
  if (broken.some((kind) => error instanceof kind)) exitWith((error as Error).message, exitCodes.badConfig);
  if (unavailable.some((kind) => error instanceof kind)) exitWith((error as Error).message, exitCodes.unavailable);
  exitWith(error instanceof Error ? (error.stack ?? error.message) : String(error), exitCodes.failure);
}

function exitWith(message: string, code: number): never {
  new LineWriter(2, () => "").write(`colloquy: ${message}\n`);
  exit(code);
}

/** Blocks the event loop, so no request is answered any more. */
function exit(code: number): never {
  // We send SIGKILL after the time-out; the exit code is then meaningless.
  if (!writeGate.stop(limits.exit_wait_ms_max)) process.kill(process.pid, "SIGKILL");
  process.exit(code);
}

/**
 * A slow disk must not look like a failure: what was answered is in the journal, and the next start brings it into the
 * stores.
 */
function cutShort(log: Log, about: object, isDrained: boolean): never {
  if (!isDrained) {
    log.error(about, "stopped without an answer to every request: they took too long");
    exit(exitCodes.failure);
  }
  log.warn(
    about,
    "stopped before the stores were closed, which took too long: the next start brings the rest into them",
  );
  exit(0);
}

function greet(server: RunningServer, config: Config): void {
  const file = relative(process.cwd(), server.zuliprc) || server.zuliprc;
  say(`Colloquy is at ${server.url}`);
  say(`Transport: ${server.transport}`);
  for (const line of blockedPortWarnings(config, server.url)) say(line);
  if (!server.acceptsWrites)
    say("The disk is nearly full: reads are served, changes are rejected until there is more space.");
  if (server.isZuliprcGood === null) {
    say("Another node of the cluster serves the first organization: requests are forwarded.");
    return;
  }
  if (server.setupLink !== null) say(`Set up your organization: ${server.setupLink}`);
  if (!server.isZuliprcGood) {
    say(
      `The credentials in ${file} are not valid any more: the key or the address was changed, or the file was removed.`,
    );
    say(`To write new credentials, run: ${commandLine} new-key <the owner's address>`);
    return;
  }
  say(`Credentials of the owner: ${file}`);
  const quoted = /^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`;
  const credentials = `$(sed -n 's/^email=//p' ${quoted}):$(sed -n 's/^key=//p' ${quoted})`;
  say(`Try: curl -u "${credentials}" ${server.url}/api/v1/users/me`);
}

/** @throws BadConfig */
function readOptions(): { readonly help: boolean; readonly config: string | null } {
  const options = { help: { type: "boolean", short: "h" }, config: { type: "string" } } as const;
  try {
    const { help = false, config = null } = parseArgs({ options }).values;
    return { help, config };
  } catch (error) {
    // The first sentence says what is wrong.
    throw new BadConfig(`${(error as Error).message.replace(/\.? .*?To specify.*$/s, "")}: see colloquy serve --help`);
  }
}

async function main(): Promise<void> {
  const options = readOptions();
  if (options.help) {
    process.stdout.write(serveHelp());
    return;
  }
  const hangUps = new HangUps();
  const environment = withConfigFile(process.env, options.config);
  const config = readConfig(environment);
  const logFile = openLogFile(config);
  const log = createLog(config.logLevel, config.logFormat, logFile ?? undefined);
  hangUps.logsTo(log, logFile);
  // A signal that arrives during the start is handled once the server can stop cleanly.
  const pending = stopRequested();
  let hasStopped = false;
  void pending.then(() => {
    hasStopped = true;
  });
  const server = await startServer(config, {
    log,
    hasStopped: () => hasStopped,
    onWaiting: (why) => say(`Prepared: ${why}, and this one serves when that one has stopped.`),
    die(error) {
      if (error instanceof OwnershipLost) {
        log.fatal(error.message);
        // Nothing failed on disk, so an exit code is more useful than a signal. No answer is sent after this either.
        exit(exitCodes.unavailable);
      }
      if (broken.some((kind) => error instanceof kind)) exitWith((error as Error).message, exitCodes.badConfig);
      log.fatal({ err: error }, "a flush or a checkpoint failed: the process ends, and the next start recovers");
      // M5: no clean-up, because it could make things worse; also the only exit that cannot hang in the store (pitfalls
      // 1.1).
      process.kill(process.pid, "SIGKILL");
      throw error;
    },
  });
  if (config.metricsFile !== null) offerMetrics(config.metricsFile);
  const pidFile = join(config.dataDir, "server.pid");
  try {
    writeFileSync(pidFile, `${process.pid}\n`);
  } catch (error) {
    log.warn({ err: error }, "no pid file");
  }
  greet(server, config);
  const about = { version: programVersion, node: process.versions.node, transport: server.transport };
  log.info({ ...about, pid: process.pid, settings: describeConfig(environment) }, "started");
  hangUps.serves(server);
  const signal = await pending;
  log.info({ signal }, "stopping");
  let isDrained = false;
  const beforeRelease = () => {
    try {
      rmSync(pidFile, { force: true });
    } catch (error) {
      log.warn({ err: error }, "the pid file could not be removed");
    }
  };
  const ending = { signal, version: programVersion };
  setTimeout(() => {
    beforeRelease();
    cutShort(log, ending, isDrained);
  }, limits.shutdown_ms_max).unref();
  const onDrained = () => {
    isDrained = true;
  };
  await server.stop({ onDrained, beforeRelease });
  log.info(ending, "stopped");
  exit(0);
}

/** @throws BadConfig */
function openLogFile({ logFile }: Config): LogFile | null {
  if (logFile === null) return null;
  try {
    return new LogFile(logFile);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new BadConfig(`LOG_FILE=${JSON.stringify(logFile)} cannot be used: it cannot be opened (${code})`);
  }
}

/**
 * SIGHUP: what programs around the server have replaced is opened again. From the start on, because without a handler it
 * would end the process: while a standby waits, too.
 */
class HangUps {
  #logFile: LogFile | null = null;
  #log: Log | null = null;
  #server: RunningServer | null = null;
  /** One came before the server could read its certificate again. */
  #isWaiting = false;

  constructor() {
    process.on("SIGHUP", () => this.#hangUp());
  }

  logsTo(log: Log, logFile: LogFile | null): void {
    this.#log = log;
    this.#logFile = logFile;
  }

  serves(server: RunningServer): void {
    this.#server = server;
    if (this.#isWaiting) this.#renew(server);
  }

  #hangUp(): void {
    try {
      this.#logFile?.reopen();
    } catch (error) {
      this.#log?.error({ err: error }, "LOG_FILE cannot be opened again: the log goes on in the former file");
    }
    if (this.#server === null) this.#isWaiting = true;
    else this.#renew(this.#server);
  }

  #renew(server: RunningServer): void {
    const renewed = server.renewCertificate();
    if (renewed === null)
      this.#log?.info({ file: this.#logFile !== null }, "SIGHUP: there is no certificate to read again");
    else if ("fault" in renewed) this.#log?.error(`SIGHUP: the certificate stays the former one: ${renewed.fault}`);
    else this.#log?.info({ names: renewed.names }, "SIGHUP: new connections get the new certificate");
  }
}

/** Resolves at the first signal to stop; later ones are ignored. */
function stopRequested(): Promise<string> {
  return new Promise((resolve) => {
    process.on("SIGTERM", () => resolve("SIGTERM"));
    process.on("SIGINT", () => resolve("SIGINT"));
    const { after } = systemClock;
    watchParent({ environment: process.env, after, onEnded: () => resolve("npm has ended") });
  });
}

main().catch(complain);
