/** Letters to a mail server (nodemailer): connections are kept and bounded, every wait has an end (S3). */
import { limits } from "../../../schemas/limits.ts";
import { confined, loadNodemailer, type MailTransport } from "./transport.ts";

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; else STARTTLS where the server offers it. */
  readonly isSecure: boolean;
  /** null: the server wants none. */
  readonly login: { readonly user: string; readonly password: string } | null;
}

export function smtpTransport(server: SmtpServer): MailTransport {
  let opening: Promise<Pool> | null = null;
  return {
    async send({ letter, signal }) {
      opening ??= openPool(server);
      const pool = await opening;
      await pool.sendMail({ ...letter, ...confined, signal });
    },
    close() {
      void opening?.then((pool) => pool.close({ force: true }));
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
    // A password goes over the network encrypted or not at all; on this machine itself nobody listens.
    requireTLS: login !== null && !isLocal,
    ignoreTLS: isLocal,
    ...(login === null ? {} : { auth: { user: login.user, pass: login.password } }),
    maxConnections: limits.mail_deliveries_concurrent_max,
    // The server may hang up an idle connection at the very moment that it is used: once more is enough.
    maxRequeues: 1,
    connectionTimeout: limits.mail_connect_ms_max,
    dnsTimeout: limits.mail_connect_ms_max,
    greetingTimeout: limits.mail_connect_ms_max,
    socketTimeout: limits.mail_silence_ms_max,
    ...confined,
  });
}
