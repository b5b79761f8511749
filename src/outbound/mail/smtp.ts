/**
 * Sends emails to a mail server (nodemailer): connections are pooled and bounded, and every wait has a time-out (S3).
 */
import { limits } from "../../../schemas/limits.ts";
import { confined, loadNodemailer, type MailTransport } from "./transport.ts";

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** Implicit TLS; otherwise STARTTLS if the server offers it. */
  readonly isSecure: boolean;
  /** null if the server needs no login. */
  readonly login: { readonly user: string; readonly password: string } | null;
}

export function smtpTransport(server: SmtpServer): MailTransport {
  let opening: Promise<Pool> | null = null;
  return {
    async send({ renderedMail, signal }) {
      opening ??= openPool(server);
      const pool = await opening;
      await pool.sendMail({ ...renderedMail, ...confined, signal });
    },
    async close() {
      // If the library could not be loaded, no delivery runs, and a stop continues.
      const pool = await opening?.catch(() => null);
      pool?.close({ force: true });
    },
  };
}

type Pool = Awaited<ReturnType<typeof openPool>>;

async function openPool({ host, port, isSecure, login }: SmtpServer) {
  const createTransport = await loadNodemailer();
  const isLocal = host === "localhost" || host === "::1" || host.startsWith("127.");
  return createTransport({
    pool: true,
    host,
    port,
    secure: isSecure,
    // A password is never sent unencrypted over the network; connections to this machine itself need no encryption.
    requireTLS: login !== null && !isLocal,
    ignoreTLS: isLocal,
    ...(login === null ? {} : { auth: { user: login.user, pass: login.password } }),
    maxConnections: limits.mail_deliveries_concurrent_max,
    // The server may close an idle connection at the moment it is used: one retry is enough.
    maxRequeues: 1,
    connectionTimeout: limits.mail_connect_ms_max,
    dnsTimeout: limits.mail_connect_ms_max,
    greetingTimeout: limits.mail_connect_ms_max,
    socketTimeout: limits.mail_silence_ms_max,
    ...confined,
  });
}
