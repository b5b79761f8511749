/**
 * The environment variables, read once, validated and frozen (start-up contract). An invalid value gives one clear line
 * and exit code 78 before anything is touched. The table below is the reference of all variables;
 * config-help.ts says what they mean.
 */

import { ownProperty } from "../../domain/own-property.ts";
import { codePoints, isEmailAddress, unprintablePosition } from "../../domain/text.ts";
import { limits } from "../../schemas/limits.ts";
import type { NatsAddresses } from "../durability/cluster/addresses.ts";
import { type AddressDetail, addressDetails } from "../edge/http/access-log.ts";
import { type TransportChoice, transportChoices } from "../edge/transport/load.ts";
import { type LogFormat, logFormats } from "../log/log.ts";
import type { AdminAddress } from "../operate/admin/listener.ts";
import { isCronPattern } from "../operate/backup-schedule.ts";
import { parseRates, type RateRules } from "../operations/rate-limits.ts";
import type { Sender } from "../outbound/mail/rendered-mail.ts";
import type { SmtpServer } from "../outbound/mail/smtp.ts";
import { clusterAdvertise, clusterMonitors, clusterNats, clusterNode, type Variable } from "./cluster-variables.ts";
import { parseSender, parseSiteUrl, parseSmtpUrl } from "./mail-config.ts";

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  /** How long a start waits for another process to release the data folder. */
  readonly waitForLockSeconds: number;
  readonly ownerEmail: string;
  /** null: the first start generates a random one, because the key in zuliprc is enough to authenticate. */
  readonly ownerPassword: string | null;
  readonly realmName: string;
  readonly rates: RateRules;
  readonly logLevel: string;
  readonly logFormat: LogFormat;
  /** null: standard error. */
  readonly logFile: string | null;
  /** Whether each request is logged. */
  readonly logsAccess: boolean;
  /** How much of a client's address the access log has. */
  readonly accessAddresses: AddressDetail;
  /** From which duration on a turn is logged; null: never. */
  readonly slowTurnMs: number | null;
  readonly webPublicStreamsEnabled: boolean;
  readonly presenceLimitedToAccessible: boolean;
  readonly topicDeletionTimeoutMs: number;
  /** Default validity of an invitation (spec 4.14). */
  readonly invitationLinkValidityMinutes: number;
  /** After how long an idle organization is closed; null: never. */
  readonly realmIdleMs: number | null;
  readonly idleQueueTimeoutMs: number;
  /** Seconds of silence after which a socket is pinged. */
  readonly socketHeartbeatS: number;
  readonly storeFreeBytesMin: number;
  /** null means the whole disk. */
  readonly storeBytesMax: number | null;
  /** Maximum size of an uploaded file. */
  readonly maxFileUploadSizeMib: number;
  /** Maximum size of an organization's uploaded files in total; null means no limit. */
  readonly uploadQuotaMib: number | null;
  /** Maximum size of the files of one user and their bots; null means no limit. */
  readonly uploadQuotaPerUserMib: number | null;
  /** null: emails are written as files to DATA_DIR/outbox. */
  readonly smtpServer: SmtpServer | null;
  readonly mailSender: Sender;
  /** Whether outgoing webhooks may be sent to private networks and to this machine. */
  readonly webhooksMayBePrivate: boolean;
  /** Site of links in emails that no request triggered; null means the server's own address. */
  readonly siteUrl: string | null;
  /** The library that speaks HTTP and WebSocket: see docs/transport.md. */
  readonly transport: TransportChoice;
  /** Where the journal is copied to; null: nowhere. */
  readonly archiveDir: string | null;
  /** How many days times can be restored to from the archive; null: for ever. */
  readonly archiveDays: number | null;
  /** How often the archive gets copies of everything. */
  readonly archiveBaseHours: number;
  /** Where backups are made by schedule; null: none are. */
  readonly backupDir: string | null;
  /** A cron pattern, in the time zone of the process; null: backups are made only when an operator asks. */
  readonly backupSchedule: string | null;
  /** How many backups are kept. */
  readonly backupKeep: number;
  /** NATS servers of the cluster that this server is a node of; null: it is none. See docs/cluster.md. */
  readonly clusterNats: NatsAddresses | null;
  /** Monitoring pages of the NATS servers. */
  readonly clusterMonitors: readonly string[] | null;
  readonly clusterNode: string;
  /** Where other nodes reach this one; null: at HOST and PORT. */
  readonly clusterAdvertise: string | null;
  /** How many streams a new cluster gets. */
  readonly clusterStreams: number;
  /** How much an organization writes until a snapshot of it is due, and after how long it is. */
  readonly clusterSnapshotMib: number;
  readonly clusterSnapshotHours: number;
  /** How long the node may be unable to renew its lease. */
  readonly clusterLeaseMs: number;
  readonly clusterCredentialsFile: string | null;
  readonly clusterCaFile: string | null;
  readonly clusterCertFile: string | null;
  readonly clusterKeyFile: string | null;
  readonly tlsKeyFile: string | null;
  readonly tlsCertFile: string | null;
  /** A proxy in front sets X-Forwarded-For and X-Forwarded-Proto. */
  readonly trustsProxy: boolean;
  /** POST /dev_fetch_api_key returns keys without a password. */
  readonly developmentLogins: boolean;
  /** Where metrics, health and administration are served. */
  readonly adminAddress: AdminAddress;
  /** Host names under which it may be called, in lower case. */
  readonly adminHosts: readonly string[];
  /** Written on SIGUSR2: see main.ts. */
  readonly metricsFile: string | null;
}

/** An invalid value. The message is the line to print. */
export class BadConfig extends Error {
  override readonly name = "BadConfig";
}

export type Variables = Readonly<Record<string, string | undefined>>;

function text(name: string, fallback: string, wants = "text without line breaks"): Variable<string> {
  return { name, fallback, wants, read: (value) => (/^[^\r\n\0]+$/.test(value) ? value : undefined) };
}

function integer(name: string, fallback: number, min: number, max: number): Variable<number> {
  return {
    name,
    fallback,
    wants: `a number from ${min} to ${max}`,
    read(value) {
      const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
      return number >= min && number <= max ? number : undefined;
    },
  };
}

/** A limit that can be disabled. */
function boundOrNone(name: string, fallback: number, max: number, min = 0): Variable<number | null> {
  const bound = integer(name, fallback, min, max);
  return {
    ...bound,
    wants: `${bound.wants}, or none`,
    read: (value) => (value.toLowerCase() === "none" ? null : bound.read(value)),
  };
}

function flag(name: string, fallback: boolean): Variable<boolean> {
  const words: Readonly<Record<string, boolean>> = { true: true, false: false };
  return { name, fallback, wants: "true or false", read: (value) => ownProperty(words, value.toLowerCase()) };
}

function choice<T extends string>(name: string, fallback: T, options: readonly T[]): Variable<T> {
  return { name, fallback, wants: options.join(", "), read: (value) => options.find((option) => option === value) };
}

function optional<T>(variable: Variable<T>): Variable<T | null> {
  return { ...variable, fallback: null };
}

const email: Variable<string> = {
  name: "OWNER_EMAIL",
  isPersonal: true,
  fallback: "owner@localhost",
  wants: "an e-mail address",
  read: (value) => (isEmailAddress(value, limits.email_code_points_max) ? value : undefined),
};

const password: Variable<string> = {
  name: "OWNER_PASSWORD",
  fallback: "",
  wants: `text of ${limits.password_code_points_min} to ${limits.password_bytes_max} characters on one line`,
  isSecret: true,
  read(value) {
    const length = codePoints(value);
    const fits = length >= limits.password_code_points_min && length <= limits.password_bytes_max;
    return fits && /^[^\r\n\0]+$/.test(value) ? value : undefined;
  },
};

const realmName: Variable<string> = {
  name: "REALM_NAME",
  fallback: "Colloquy",
  wants: `text of at most ${limits.full_name_code_points_max} characters on one line`,
  read(value) {
    const fits = value !== "" && codePoints(value) <= limits.full_name_code_points_max;
    return fits && unprintablePosition(value) === 0 ? value : undefined;
  },
};

const rates: Variable<RateRules> = {
  name: "RATE_LIMITS",
  fallback: parseRates("") as RateRules,
  wants: "off, or rules such as api=200/60,login=10/60",
  read: (value) => parseRates(value) ?? undefined,
};

const smtpServer: Variable<SmtpServer | null> = {
  name: "SMTP_URL",
  fallback: null,
  wants: "an address such as smtp://host:587 or smtps://user:password@host",
  isSecret: true,
  read: parseSmtpUrl,
};

const mailSender: Variable<Sender> = {
  name: "MAIL_FROM",
  isPersonal: true,
  fallback: { name: null, address: "noreply@localhost" },
  wants: "an e-mail address, or Name <address>",
  read: parseSender,
};

const cronPattern: Variable<string> = {
  name: "BACKUP_SCHEDULE",
  fallback: "",
  wants: "a cron pattern such as 30 3 * * *",
  read: (value) => (isCronPattern(value) ? value : undefined),
};

const siteUrl: Variable<string | null> = {
  name: "SITE_URL",
  fallback: null,
  wants: "an address such as https://chat.example.org",
  read: parseSiteUrl,
};

const adminAddress: Variable<AdminAddress> = {
  name: "ADMIN_LISTEN",
  fallback: { kind: "socket", path: null },
  wants: "a path with a slash for a Unix socket, host:port, or none",
  read(value) {
    if (value === "none") return { kind: "none" };
    if (value.includes("/")) return value.includes("\0") ? undefined : { kind: "socket", path: value };
    const match = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})$/.exec(value);
    const port = Number(match?.[3]);
    const host = match?.[1] ?? match?.[2];
    return host === undefined || port > 65_535 ? undefined : { kind: "tcp", host, port };
  },
};

const adminHosts: Variable<readonly string[]> = {
  name: "ADMIN_HOSTS",
  fallback: [],
  wants: `at most ${limits.admin_hosts_max} host names without ports, such as colloquy,metrics.example.org`,
  read(value) {
    const names = value.split(",").map((name) => name.trim().toLowerCase());
    const areNames = names.every((name) => /^[a-z\d_](?:[a-z\d_.-]{0,252})$/.test(name));
    return areNames && names.length <= limits.admin_hosts_max ? names : undefined;
  },
};

const dayMs = 24 * 60 * 60 * 1000;
const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/** Every variable that the server reads. */
export const variables = {
  host: text("HOST", "127.0.0.1", "an address or host name"),
  port: integer("PORT", 9991, 0, 65_535),
  dataDir: text("DATA_DIR", "./data", "a path"),
  waitForLockSeconds: integer("WAIT_FOR_LOCK_SECONDS", 0, 0, limits.data_folder_wait_seconds_max),
  ownerEmail: email,
  ownerPassword: optional(password),
  realmName,
  rates,
  logLevel: choice<(typeof logLevels)[number]>("LOG_LEVEL", "warn", logLevels),
  logFormat: choice<LogFormat>("LOG_FORMAT", "json", logFormats),
  logFile: optional(text("LOG_FILE", "", "a path")),
  logsAccess: flag("ACCESS_LOG", false),
  accessAddresses: choice<AddressDetail>("ACCESS_LOG_ADDRESSES", "full", addressDetails),
  slowTurnMs: boundOrNone("SLOW_TURN_MS", 500, 600_000, 1),
  webPublicStreamsEnabled: flag("WEB_PUBLIC_STREAMS_ENABLED", true),
  presenceLimitedToAccessible: flag("CAN_ACCESS_ALL_USERS_GROUP_LIMITS_PRESENCE", false),
  topicDeletionTimeoutMs: integer("TOPIC_DELETION_TIMEOUT_MS", 50_000, 0, 600_000),
  invitationLinkValidityMinutes: integer("INVITATION_LINK_VALIDITY_MINUTES", 14_400, 1, limits.invitation_minutes_max),
  realmIdleMs: boundOrNone("REALM_IDLE_MS", 10 * 60_000, 7 * dayMs, 60_000),
  idleQueueTimeoutMs: integer("IDLE_QUEUE_TIMEOUT_MS", dayMs / 2, 1000, 7 * dayMs),
  socketHeartbeatS: integer(
    "SOCKET_HEARTBEAT_S",
    limits.socket_heartbeat_s,
    limits.socket_heartbeat_s_min,
    limits.socket_heartbeat_s_max,
  ),
  storeFreeBytesMin: integer("STORE_FREE_BYTES_MIN", limits.store_free_bytes_min, 0, Number.MAX_SAFE_INTEGER),
  storeBytesMax: optional(integer("STORE_BYTES_MAX", 0, 1, Number.MAX_SAFE_INTEGER)),
  maxFileUploadSizeMib: integer(
    "MAX_FILE_UPLOAD_SIZE_MIB",
    limits.upload_file_mib_default,
    0,
    limits.upload_file_mib_max,
  ),
  uploadQuotaMib: boundOrNone("UPLOAD_QUOTA_MIB", limits.upload_quota_mib_default, limits.upload_quota_mib_max),
  uploadQuotaPerUserMib: boundOrNone(
    "UPLOAD_QUOTA_PER_USER_MIB",
    limits.upload_quota_per_user_mib_default,
    limits.upload_quota_mib_max,
  ),
  smtpServer,
  mailSender,
  webhooksMayBePrivate: flag("OUTGOING_WEBHOOK_ALLOW_PRIVATE", false),
  siteUrl,
  transport: choice<TransportChoice>("TRANSPORT", "auto", transportChoices),
  archiveDir: optional(text("ARCHIVE_DIR", "", "a path")),
  archiveDays: boundOrNone("ARCHIVE_DAYS", limits.archive_days_default, limits.archive_days_max, 1),
  archiveBaseHours: integer("ARCHIVE_BASE_HOURS", limits.archive_base_hours_default, 1, limits.archive_base_hours_max),
  backupDir: optional(text("BACKUP_DIR", "", "a path")),
  backupSchedule: optional(cronPattern),
  backupKeep: integer("BACKUP_KEEP", limits.backup_keep_default, 1, limits.backup_keep_max),
  clusterNats,
  clusterMonitors,
  clusterNode,
  clusterAdvertise,
  clusterStreams: integer("CLUSTER_STREAMS", limits.cluster_streams_default, 1, limits.cluster_streams_max),
  clusterSnapshotMib: integer("CLUSTER_SNAPSHOT_MIB", limits.snapshot_mib_default, 1, limits.snapshot_mib_max),
  clusterSnapshotHours: integer("CLUSTER_SNAPSHOT_HOURS", limits.snapshot_hours_default, 1, limits.snapshot_hours_max),
  clusterLeaseMs: integer(
    "CLUSTER_LEASE_MS",
    limits.cluster_lease_ms,
    limits.cluster_lease_ms,
    limits.cluster_lease_ms_max,
  ),
  clusterCredentialsFile: optional(text("CLUSTER_NATS_CREDENTIALS_FILE", "", "a path")),
  clusterCaFile: optional(text("CLUSTER_NATS_CA_FILE", "", "a path")),
  clusterCertFile: optional(text("CLUSTER_NATS_CERT_FILE", "", "a path")),
  clusterKeyFile: optional(text("CLUSTER_NATS_KEY_FILE", "", "a path")),
  tlsKeyFile: optional(text("TLS_KEY_FILE", "", "a path")),
  tlsCertFile: optional(text("TLS_CERT_FILE", "", "a path")),
  trustsProxy: flag("TRUST_PROXY", false),
  developmentLogins: flag("DEVELOPMENT_LOGINS", false),
  adminAddress,
  adminHosts,
  metricsFile: optional(text("METRICS_FILE", "", "a path")),
} as const satisfies { readonly [K in keyof Config]: Variable<Config[K]> };

const names: ReadonlySet<string> = new Set(Object.values(variables).map(({ name }) => name));

export function isVariable(name: string): boolean {
  return names.has(name);
}

/** The variables that are set, for the log. */
export function describeConfig(environment: Variables): Record<string, string> {
  const set = Object.values(variables as Readonly<Record<string, Variable<unknown>>>).flatMap(
    ({ name, isSecret, isPersonal }) => {
      const value = environment[name] ?? "";
      if (value === "") return [];
      return [[name, isSecret === true || isPersonal === true ? "(set)" : value]];
    },
  );
  return Object.fromEntries(set);
}

/** @throws BadConfig naming the first invalid variable */
export function readConfig(environment: Variables): Config {
  const config: Record<string, unknown> = {};
  for (const [key, variable] of Object.entries(variables)) config[key] = readOne(variable, environment);
  const made = Object.freeze(config) as typeof config & Config;
  if ((made.tlsKeyFile === null) !== (made.tlsCertFile === null)) {
    throw new BadConfig("TLS_KEY_FILE and TLS_CERT_FILE are needed together");
  }
  if (made.backupSchedule !== null && made.backupDir === null) throw new BadConfig("BACKUP_SCHEDULE needs BACKUP_DIR");
  if ((made.clusterNats === null) !== (made.clusterMonitors === null)) {
    throw new BadConfig("CLUSTER_NATS and CLUSTER_NATS_MONITOR are needed together");
  }
  if (made.clusterNats !== null && made.archiveDir !== null) {
    throw new BadConfig("ARCHIVE_DIR cannot be used with CLUSTER_NATS: the streams have all changes");
  }
  if (made.developmentLogins && !isThisMachine.test(made.host)) {
    throw new BadConfig(
      "DEVELOPMENT_LOGINS=true gives every user's key to anyone: HOST must be 127.0.0.1, ::1 or localhost",
    );
  }
  return made;
}

const isThisMachine = /^(?:127\.0\.0\.1|::1|localhost)$/;

function readOne(variable: Variable<unknown>, environment: Variables): unknown {
  const given = environment[variable.name];
  if (given === undefined || given === "") return variable.fallback;
  const value = variable.read(given);
  if (value === undefined) {
    const shown = variable.isSecret === true ? "" : `=${JSON.stringify(given.slice(0, 100))}`;
    throw new BadConfig(`${variable.name}${shown} cannot be used: it must be ${variable.wants}`);
  }
  return value;
}
