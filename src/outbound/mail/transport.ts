/** Port for sending emails: a mail server (smtp.ts), or a folder of files (outbox.ts). */
import type { RenderedMail } from "./rendered-mail.ts";

export interface Parcel {
  /** Unique on this server: `<realm>-<id>`. */
  readonly name: string;
  readonly renderedMail: RenderedMail;
  /** Aborts at the time limit, or when the server stops. */
  readonly signal: AbortSignal;
}

export interface MailTransport {
  /**
   * Resolves when the email was accepted.
   * @throws Error with `code` and `responseCode`
   */
  send(parcel: Parcel): Promise<void>;
  /** Aborts running deliveries; resolves when nothing is written any more. */
  close(): Promise<void>;
}

/** nodemailer is large and most servers send few emails, so it is loaded with the first one. */
export async function loadNodemailer() {
  const { createTransport } = await import("nodemailer");
  return createTransport;
}

/** No email can make the server read a file or a URL. */
export const confined = { disableFileAccess: true, disableUrlAccess: true } as const;
