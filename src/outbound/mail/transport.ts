/** Where letters go (port): a mail server (smtp.ts), or a folder of files (outbox.ts). */
import type { Letter } from "./letter.ts";

export interface Parcel {
  /** Unique on this server: `<realm>-<id>`. */
  readonly name: string;
  readonly letter: Letter;
  /** Aborts when it takes too long, or when the server stops. */
  readonly signal: AbortSignal;
}

export interface MailTransport {
  /** Resolves when the letter was taken for good. @throws Error with what it is about in `code` and `responseCode` */
  send(parcel: Parcel): Promise<void>;
  /** Gives up what is on its way. */
  close(): void;
}

/** nodemailer is big and most servers write few mails: it is loaded with the first one. Content never names files or URLs. */
export async function loadNodemailer() {
  const { createTransport } = await import("nodemailer");
  return createTransport;
}

/** No letter makes the server read a file or a URL. */
export const confined = { disableFileAccess: true, disableUrlAccess: true } as const;
