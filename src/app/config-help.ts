/** `colloquy serve --help`: every setting with its meaning, its default and what it accepts. */
import { type Config, variables } from "./config.ts";

const meanings: Readonly<Record<keyof Config, string>> = {
  host: "the address or name to listen on",
  port: "the TCP port of HTTP and WebSocket; 0 takes a free one and prints it",
  dataDir: "the data folder; one server at a time",
  waitForLockSeconds: "how long a start waits, prepared, until another server on the data folder has stopped",
  ownerEmail: "the owner's address; used only when the data folder is empty",
  ownerPassword: "the owner's password; used only when the data folder is empty",
  realmName: "the organization's name; used only when the data folder is empty",
  rates: "requests in a number of seconds, for each user or address",
  logLevel: "what is logged: this level and those after it",
  logFormat: "one JSON object a line, or text for people",
  logFile: "the file of the log, opened again at SIGHUP; without it, the log goes to standard error",
  logsAccess: "whether each request is logged",
  accessAddresses: "how much of a client's address the access log has",
  slowTurnMs: "from which duration on a turn is logged",
  webPublicStreamsEnabled: "whether channels may be readable without an account",
  presenceLimitedToAccessible: "whether restricted guests get presence only of users whom they may know",
  topicDeletionTimeoutMs: "when a topic deletion that is not finished answers that it is not complete",
  invitationLinkValidityMinutes: "the life of an invitation that names none",
  realmIdleMs: "after how long an organization that nobody uses is closed, until it is used again",
  idleQueueTimeoutMs: "the life of an event queue that no client reads",
  socketHeartbeatS: "the silence after which a WebSocket is pinged",
  storeFreeBytesMin: "with less free space on the disk, the server rejects writes; 0 switches the check off",
  storeBytesMax: "a quota for the stores of all organizations; beyond it, the server rejects writes",
  maxFileUploadSizeMib: "the largest uploaded file",
  uploadQuotaMib: "all uploaded files of an organization",
  uploadQuotaPerUserMib: "the uploaded files of a user and the user's bots",
  smtpServer: "the mail server; without it, emails are written to DATA_DIR/outbox",
  mailSender: "the sender of emails",
  webhooksMayBePrivate: "whether outgoing webhooks may connect to this machine and to private networks",
  siteUrl: "the beginning of links in emails",
  transport: "the implementation of HTTP and WebSocket",
  archiveDir: "an existing folder that gets copies of all changes",
  archiveDays: "how many days back a moment can be restored from the archive",
  archiveBaseHours: "how often the archive gets a copy of everything",
  backupDir: "an existing folder for backups that are made by schedule",
  backupSchedule: "when they are made: a cron pattern in the time zone of the process",
  backupKeep: "how many of them are kept",
  clusterNats: "the NATS servers of the cluster that this server is a node of; without it, it is none",
  clusterMonitors: "the monitoring page of each of these NATS servers",
  clusterNode: "the name of this node; each has another",
  clusterAdvertise: "where the other nodes reach this one",
  clusterStreams: "how many streams a new cluster gets",
  clusterSnapshotMib: "how much an organization writes to its stream until a snapshot of it is due",
  clusterSnapshotHours: "after how long one is due if it was changed",
  clusterLeaseMs: "how many milliseconds the node may stand still before another one takes over",
  clusterCredentialsFile: "a credentials file of NATS",
  clusterCaFile: "the authorities that certify the NATS servers",
  clusterCertFile: "the certificate that this node shows to the NATS servers",
  clusterKeyFile: "the private key of that certificate",
  tlsKeyFile: "the private key of HTTPS and WSS",
  tlsCertFile: "the certificate chain of that key",
  trustsProxy: "whether a proxy in front sets X-Forwarded-For and X-Forwarded-Proto",
  developmentLogins: "whether anybody on this machine gets any account's key without a password",
  adminAddress: "where metrics and health are served",
  adminHosts: "names under which they are asked for, besides localhost and addresses in numbers",
  metricsFile: "the file that SIGUSR2 writes metrics to",
};

/** Defaults that are not shown as their value. */
const shownDefaults: Partial<Readonly<Record<keyof Config, string>>> = {
  ownerPassword: "random",
  rates: "api=200/60, login=10/60, anonymous=100/60",
  siteUrl: "the address it listens on",
  mailSender: "noreply@localhost",
  adminAddress: "DATA_DIR/admin.sock",
  adminHosts: "none",
  clusterNode: "the name of the host",
  clusterAdvertise: "HOST and PORT; the name of the host if HOST is every address",
};

const intro = `Usage: colloquy serve [--config FILE]

Runs the server until it gets SIGTERM or SIGINT. Settings are environment variables. FILE may have them, too, one
NAME=value a line; the environment takes precedence. Exit codes: 0 stopped, 75 try again, 78 correct a setting or the
data, 1 anything else.
`;

export function serveHelp(): string {
  return `${[intro, ...Object.keys(variables).map((key) => entry(key as keyof Config))].join("\n")}\n`;
}

function entry(key: keyof Config): string {
  const { name, fallback, wants } = variables[key];
  const shown = shownDefaults[key] ?? (fallback === null ? "none" : String(fallback));
  return `  ${name}\n      ${meanings[key]}\n      default ${shown}; accepts ${wants}`;
}
