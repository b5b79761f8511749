/**
 * Shared by the whole server: one transport, a few deliveries at a time, a time limit for each, and the log. A delivery
 * never throws, and its outcome has codes only: no address, text or password reaches the log (S2).
 */
import { limits } from "../../../schemas/limits.ts";
import type { MailRecord } from "../../../schemas/mails.ts";
import type { Counter } from "../../metrics/instruments.ts";
import type { DeliveryOutcome } from "../../metrics/meters.ts";
import type { Clock } from "../../runtime/clock.ts";
import { DeliveryLimiter } from "../delivery-limiter.ts";
import { renderMail, type Sender, Unwritable } from "./rendered-mail.ts";
import type { MailTransport } from "./transport.ts";

/** The part of a logger that is used. */
export interface MailLog {
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface MailSenderOptions {
  readonly transport: MailTransport;
  readonly sender: Sender;
  readonly clock: Clock;
  readonly log: MailLog;
  /** Absent where deliveries are not counted. */
  readonly outcomes?: Counter<DeliveryOutcome>;
}

/** The organization that sends an email. */
export interface Origin {
  /** Used in file names. */
  readonly id: number;
  /** A unique name, used in Message-IDs. */
  readonly name: string;
  /** Its web address, without a trailing slash. */
  site(): string;
}

export type Delivery =
  | { readonly kind: "taken" }
  | { readonly kind: "failed"; readonly isPermanent: boolean; readonly reason: string }
  /** The server stops: the email is as pending as before. */
  | { readonly kind: "interrupted" };

export class MailSender {
  readonly log: MailLog;
  readonly outcomes: Counter<DeliveryOutcome> | null;
  readonly #transport: MailTransport;
  readonly #sender: Sender;
  readonly #limiter: DeliveryLimiter;

  constructor(options: MailSenderOptions) {
    this.log = options.log;
    this.outcomes = options.outcomes ?? null;
    this.#transport = options.transport;
    this.#sender = options.sender;
    this.#limiter = new DeliveryLimiter({
      clock: options.clock,
      concurrentMax: limits.mail_deliveries_concurrent_max,
      msMax: limits.mail_delivery_ms_max,
      drainMsMax: limits.mail_drain_ms_max,
    });
  }

  /** @param unsubscribeUrl null: such emails cannot be switched off */
  async deliver(mail: MailRecord, origin: Origin, unsubscribeUrl: string | null): Promise<Delivery> {
    const passed = await this.#limiter.pass(async (signal) => {
      const renderedMail = renderMail(mail, {
        origin: origin.name,
        sender: this.#sender,
        site: origin.site(),
        unsubscribeUrl,
      });
      await this.#transport.send({ name: `${origin.id}-${mail.id}`, renderedMail, signal });
    });
    if (passed.kind === "done") return { kind: "taken" };
    return passed.kind === "interrupted" ? passed : failure(passed.error, passed.isLate);
  }

  async close(): Promise<void> {
    await this.#limiter.close();
    await this.#transport.close();
  }
}

/** nodemailer's codes for rejections of this recipient or this text; only these are final. */
const finalCodes: ReadonlySet<string> = new Set(["EENVELOPE", "EMESSAGE"]);

/**
 * 5xx is permanent only if it concerns the recipient or the text. A wrong password or a rejected sender is a
 * configuration error that somebody will fix, so the email waits.
 */
function failure(error: unknown, isLate: boolean): Delivery {
  if (isLate) return { kind: "failed", isPermanent: false, reason: "timeout" };
  if (error instanceof Unwritable) return { kind: "failed", isPermanent: true, reason: error.message };
  const { code, responseCode, command } = (error ?? {}) as {
    code?: unknown;
    responseCode?: unknown;
    command?: unknown;
  };
  const status = typeof responseCode === "number" ? responseCode : 0;
  const name = typeof code === "string" && /^[A-Z0-9_]{1,40}$/.test(code) ? code : "error";
  const isPermanent = status >= 500 && finalCodes.has(name) && command !== "MAIL FROM";
  return { kind: "failed", isPermanent, reason: status === 0 ? name : `${name} ${status}` };
}
