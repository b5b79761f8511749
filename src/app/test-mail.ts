/** Sends one email at once, for an operator who wants to know what the mail server answers. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { limits } from "../../schemas/limits.ts";
import { oneLine } from "../operate/admin/failures.ts";
import { AdminFailure } from "../operate/admin/operation.ts";
import { outboxTransport } from "../outbound/mail/outbox.ts";
import { smtpTransport } from "../outbound/mail/smtp.ts";
import type { Config } from "./config.ts";

const answerCharactersMax = 300;

/**
 * It waits in no queue, and is not tried again.
 * @returns where it went
 * @throws AdminFailure with the answer of the mail server
 */
export async function sendTestMail({ smtpServer, mailSender }: Config, dataDir: string, to: string, now: number) {
  const id = randomBytes(8).toString("hex");
  const outbox = join(dataDir, "outbox");
  const transport = smtpServer === null ? outboxTransport(outbox) : smtpTransport(smtpServer);
  const text = "This is a test. If you can read it, this server can send emails.";
  const renderedMail = {
    from: { name: mailSender.name ?? "Colloquy", address: mailSender.address },
    to: { name: "", address: to },
    subject: "Test of the mail server",
    text: `${text}\n`,
    html: `<p>${text}</p>\n`,
    messageId: `<test-${id}@${mailSender.address.split("@").at(-1)}>`,
    date: new Date(now),
    headers: { "Auto-Submitted": "auto-generated" },
  };
  try {
    await transport.send({
      name: `test-${id}`,
      renderedMail,
      signal: AbortSignal.timeout(limits.mail_delivery_ms_max),
    });
  } catch (error) {
    const { code = "", message } = error as { readonly code?: string; readonly message: string };
    throw new AdminFailure(
      "refused",
      `the email was not accepted (${code}): ${oneLine(message).slice(0, answerCharactersMax)}`,
    );
  } finally {
    await transport.close();
  }
  return smtpServer === null ? join(outbox, `test-${id}.eml`) : `${smtpServer.host}:${smtpServer.port}`;
}
